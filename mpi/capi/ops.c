/* Operations of the program (6.9.5 to 6.9.7 of the standard). */
#include "calls.h"
#include "fail.h"
#include "ops.h"

/* done is the end of a function that is of no communicator. */
static int done(int class) { return class == MPI_SUCCESS ? MPI_SUCCESS : fail(NULL, class); }

void op_call(void *function, int large, uintptr_t in, uintptr_t inout, int64_t n, uintptr_t datatype)
{
    MPI_Datatype type = (MPI_Datatype)datatype;
    if (large) {
        MPI_Count count = n;
        ((MPI_User_function_c *)function)((void *)in, (void *)inout, &count, &type);
    } else {
        int count = (int)n;
        ((MPI_User_function *)function)((void *)in, (void *)inout, &count, &type);
    }
}

ABI_BODY(int, Op_create, (MPI_User_function *user_fn, int commute, MPI_Op *op))
{
    return done(golciOpCreate((void *)user_fn, 0, commute, (uintptr_t *)op));
}

ABI_BODY(int, Op_create_c, (MPI_User_function_c *user_fn, int commute, MPI_Op *op))
{
    return done(golciOpCreate((void *)user_fn, 1, commute, (uintptr_t *)op));
}

ABI_BODY(int, Op_free, (MPI_Op *op))
{
    return done(golciOpFree((uintptr_t *)op));
}

ABI_BODY(int, Op_commutative, (MPI_Op op, int *commute))
{
    return done(golciOpCommutative((uintptr_t)op, commute));
}

ABI_BODY(int, Reduce_local_c, (const void *inbuf, void *inoutbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op))
{
    struct coll x = {.kind = kind_reduce, .op = op, .in.mem = (void *)inbuf, .out.mem = inoutbuf};
    x.in.n = x.out.n = count;
    x.in.type = x.out.type = datatype;
    return done(golciReduceLocal(&x));
}
