"""Plugin packages: installed with all their files, enabled for deployments, made and built by those who ship them."""
