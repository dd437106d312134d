print("configure")
