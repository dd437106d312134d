"""Archives, wheels, rpm files, folders and downloads: all are read within size limits, and never write outside their
folder.
"""
