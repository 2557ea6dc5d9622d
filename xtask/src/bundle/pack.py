"""Pack the files argv[3:] of the folder argv[2] into the archive argv[1]."""

import lzma
import platform
import sys
import tarfile

archive, folder, *files = sys.argv[1:]
# The window spans all files: the compilers in them share most of their code.
filters = [{"id": lzma.FILTER_LZMA2, "preset": 6, "dict_size": 256 << 20}]
if platform.machine().lower() in ("x86_64", "amd64"):
    filters.insert(0, {"id": lzma.FILTER_X86})
with lzma.open(archive, "wb", filters=filters) as stream:
    with tarfile.open(fileobj=stream, mode="w|", dereference=True) as tar:
        for file in files:
            tar.add(f"{folder}/{file}", file)
