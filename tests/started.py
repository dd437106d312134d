"""Processes that tests start."""

import subprocess


class Process(subprocess.Popen[str]):
    """Ends with its block if that fails: whoever was to tell it to end does so no more, and nobody is to wait for it."""

    def __exit__(self, kind: type[BaseException] | None, *raised: object) -> None:
        if kind is not None:
            self.kill()
        super().__exit__(kind, *raised)
