"""Unpack the wheel argv[1] into the folder argv[2], and keep what is executable executable."""

import os
import sys
import zipfile

with zipfile.ZipFile(sys.argv[1]) as wheel:
    for entry in wheel.infolist():
        path = wheel.extract(entry, sys.argv[2])
        # zipfile itself drops the mode, and ptxas would not start.
        if entry.external_attr >> 16 & 0o100 and not entry.is_dir():
            os.chmod(path, os.stat(path).st_mode | 0o111)
