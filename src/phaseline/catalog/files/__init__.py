"""Archives, wheels, rpm files, folders and downloads, bounded and kept inside their folder."""
