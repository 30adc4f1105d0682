#include "comms.h"

#include "shim_gen.h"
