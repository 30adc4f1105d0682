#include "abi.h"

#include "shim_gen.h"
