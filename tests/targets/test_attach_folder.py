"""The directory with the debugger's files, in the file system of a process of another user."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from holdfast.targets.program.attach_folder import AttachFolder
from holdfast.targets.program.process_view import read_view

NOBODY = 65534


@pytest.mark.skipif(os.getuid() != 0, reason="only root can start a process as another user")
def test_the_other_user_gets_the_folder_when_everything_is_in_it() -> None:
    with subprocess.Popen(["sleep", "60"], user=NOBODY, group=NOBODY) as process:
        try:
            folder = AttachFolder.create(read_view(process.pid))
            try:
                path = Path(folder.path)
                listener, _ = folder.bind_socket()
                listener.close()
                folder.write_ticket("")
                assert path.stat().st_uid == os.getuid()
                assert {file.lstat().st_uid for file in path.rglob("*")} == {NOBODY}

                folder.hand_over()

                assert (path.stat().st_uid, path.stat().st_mode & 0o777) == (NOBODY, 0o700)
            finally:
                folder.remove()
            assert not path.exists()
        finally:
            process.kill()
