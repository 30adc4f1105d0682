/* The state of the library, which calls nothing. */
#include "state.h"

_Atomic int world_state;
_Atomic int open_sessions;

int running(void)
{
    int now = atomic_load_explicit(&world_state, memory_order_acquire);
    return now == world_active || (sessions_open() > 0 && now != world_gone);
}
