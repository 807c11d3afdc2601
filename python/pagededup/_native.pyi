# The extension, which cffi makes of include/pagededup.h.
from typing import Any

ffi: Any
lib: Any
