"""The contents of a package: names of its files and folders, and the texts that are read."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from functools import cached_property


class PackageContents:
    """Files of a package by their path with ``/``; an empty folder is listed as a path that ends in ``/``."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self.files = files

    @cached_property
    def _folders(self) -> frozenset[str]:
        found = {""}
        for path in self.files:
            folder = posixpath.dirname(path)
            while folder and folder not in found:
                found.add(folder)
                folder = posixpath.dirname(folder)
        return frozenset(found)

    def has_folder(self, path: str) -> bool:
        """Return whether the package has a folder with this path."""
        return is_inside(path) and _plain(path) in self._folders

    def has_file(self, path: str) -> bool:
        """Return whether the package has a file with this path."""
        return is_inside(path) and _plain(path) in self.files


def is_inside(path: str) -> bool:
    """Return whether a relative path stays inside the package.

    >>> is_inside("a/b"), is_inside("../a"), is_inside("/a")
    (True, False, False)
    """
    return not path.startswith("/") and "\\" not in path and ".." not in path.split("/")


def _plain(path: str) -> str:
    normal = posixpath.normpath(path)
    return "" if normal == "." else normal
