"""How kernels are compiled, and the constants that the compiled code and its makers share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

AND, OR, IN, NOT_IN = 0, 1, 2, 3  # kinds of inner words of a forest

# Slots. Slot 0 is always true: its entries are the always-evaluated ones. Slots 1 + 3 * domain and
# the two after it are = , < <= and > >= of a domain; the last slot holds the sets.
TRUE_SLOT = 0
TRUE_ID = 0
EVERYTHING = 0xFFFFFFFF  # the width of a slot whose interval says nothing
IS_SET = -1  # `special` of the slot behind which stands the bitmap
NO_POSITION = 0xFFFFFFFF

# Entries are records of so many words: two guard ids, the guards' slots, code, row.
ENTRY_WORDS = 5

# Residual code: narrow instructions are two words (id; slot, list flag and two relative jumps),
# wide ones four (id; slot and list flag; two absolute jumps).
ACCEPT, REJECT = 254, 255
WIDE_ACCEPT, WIDE_REJECT = 0xFFFFFFFE, 0xFFFFFFFF
MOST_NARROW = 250  # instructions
NARROW_SLOTS = 0x7FFF
LIST_FLAG, WIDE_LIST_FLAG = 1 << 15, 1 << 31
# The code of an entry with nothing left to evaluate, or no more than its guards: one of the two is
# true, or the second is not.
ALWAYS_TRUE, GUARD_DECIDES, GUARD_DENIES = 0xFFFFFFFE, 0xFFFFFFFC, 0xFFFFFFFA


def kernel(signature: str) -> Callable[[Any], Any]:
    """Compile ahead, without the GIL, and keep the result on disk where that is possible."""

    def compiled(function: Any) -> Any:
        try:
            return numba.njit(signature, nogil=True, cache=True)(function)
        except RuntimeError:  # nowhere to write the cache: compile in each process instead
            return numba.njit(signature, nogil=True)(function)

    return compiled


helper = numba.njit(nogil=True)


@intrinsic
def prefetch(_: Any, array: Any, place: Any) -> Any:
    """Ask for an array element ahead of its use; `place` is an int64."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        byte_pointer, word = ir.PointerType(ir.IntType(8)), ir.IntType(32)
        pointer = builder.bitcast(builder.gep(data, [arguments[1]]), byte_pointer)
        kind = ir.FunctionType(ir.VoidType(), [byte_pointer, word, word, word])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        read_once_soon = [ir.Constant(word, value) for value in (0, 3, 1)]
        builder.call(function, [pointer, *read_once_soon])
        return context.get_dummy_value()

    return types.void(array, place), generate


@intrinsic
def trailing_zeros(_: Any, number: Any) -> Any:
    """How many zeros stand below the lowest one of a uint64 that is not 0, as an int64."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.uint64), generate


HOPELESS = np.float32(1e30)  # the access cost of what can be true without a positive leaf
