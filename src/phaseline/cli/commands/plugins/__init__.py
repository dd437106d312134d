"""Commands on plugins and packages."""
