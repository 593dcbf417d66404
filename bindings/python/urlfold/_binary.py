"""Where the program is."""

import os
import shutil
import sys
import sysconfig


def find() -> str:
    """Return the path of the program: $URLFOLD, that of the wheel, or the one in PATH.

    >>> import os
    >>> os.path.isabs(find())
    True
    """
    name = "urlfold.exe" if sys.platform == "win32" else "urlfold"
    if given := os.environ.get("URLFOLD"):
        return os.path.abspath(given)
    for scheme in (None, f"{os.name}_user"):
        folder = sysconfig.get_path("scripts", scheme) if scheme else sysconfig.get_path("scripts")
        path = os.path.join(folder, name)
        if os.access(path, os.X_OK):
            return path
    if found := shutil.which(name):
        return os.path.abspath(found)
    raise FileNotFoundError("the program urlfold was not found: install the wheel, set URLFOLD, or put it in PATH")
