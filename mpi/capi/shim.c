/* The functions of MPI that the generator knows: those in front of bodies in other files, those that call their form
   for large counts, conversions of handles, and what is not supported. table_gen.h has a row for each.

   The table is read twice. The first time counts and units are those of the forms for large counts. */
#include "fail.h"
#include "front.h"

/* FRONT begins the function in front of a body. letters are the kinds of args: see left. */
#define FRONT(name, letters, args, params) \
    extern __typeof__(PMPI_##name) do_##name HIDDEN; \
    ABI(int, name, params) LEAVES(do_##name args, #name, letters, EACH args)
#define FRONT_X(name, letters, args, params) \
    extern __typeof__(PMPIX_##name) dox_##name HIDDEN; \
    ABIX(int, name, params) LEAVES(dox_##name args, "X_" #name, letters, EACH args)
#define FRONT_OF_BOTH(name, letters, args, params) FRONT(name##_c, letters, args, params)
#define SMALL(name, args, params)
#define HANDLE(name, type) \
    ABI(type, name##_fromint, (int number)) { return (type)(intptr_t)number; } \
    ABI(int, name##_toint, (type handle)) { return (int)(intptr_t)handle; }
#define UNSUPPORTED(name, params) \
    ABI(int, name, params) { return left(unsupported(), #name, NULL, NULL); }
#define COUNT MPI_Count
#define UNIT MPI_Aint
#include "table_gen.h"

#undef FRONT
#undef FRONT_X
#undef FRONT_OF_BOTH
#undef SMALL
#undef HANDLE
#undef UNSUPPORTED
#undef COUNT
#undef UNIT

#define FRONT(name, letters, args, params)
#define FRONT_X(name, letters, args, params)
#define FRONT_OF_BOTH(name, letters, args, params) SMALL(name, args, params)
#define SMALL(name, args, params) \
    ABI(int, name, params) { return PMPI_##name##_c args; }
#define HANDLE(name, type)
#define UNSUPPORTED(name, params)
#define COUNT int
#define UNIT int
#include "table_gen.h"
