/* Categories of the interface for tools, and its events, of which there are none (15.3.8, 15.3.9 of the standard). */
#include "tool.h"

#include <string.h>

ABI(int, T_category_get_num, (int *num_cat))
{
    ENDS_UNLESS_BEGUN();
    ENDS_UNLESS(num_cat, MPI_T_ERR_INVALID);
    for (*num_cat = 0; tool_category(*num_cat); ++*num_cat)
        ;
    return MPI_SUCCESS;
}

ABI(int, T_category_get_info, (int cat_index, char *name, int *name_len, char *desc, int *desc_len, int *num_cvars,
    int *num_pvars, int *num_categories))
{
    const struct category *c = tool_category(cat_index);
    ENDS_UNLESS_BEGUN();
    ENDS_UNLESS(c, MPI_T_ERR_INVALID_INDEX);
    tool_copy(c->name, name, name_len);
    tool_copy(c->doc, desc, desc_len);
    TOOL_SET(num_cvars, c->control_count);
    TOOL_SET(num_pvars, c->counter_count);
    TOOL_SET(num_categories, 0);
    return MPI_SUCCESS;
}

ABI(int, T_category_get_index, (const char *name, int *cat_index))
{
    const struct category *c;
    ENDS_UNLESS_BEGUN();
    ENDS_UNLESS(name && cat_index, MPI_T_ERR_INVALID);
    for (int i = 0; (c = tool_category(i)) != NULL; i++)
        if (strcmp(name, c->name) == 0) {
            *cat_index = i;
            return MPI_SUCCESS;
        }
    return MPI_T_ERR_INVALID_NAME;
}

ABI(int, T_category_get_num_events, (int cat_index, int *num_events))
{
    ENDS_UNLESS_BEGUN();
    ENDS_UNLESS(tool_category(cat_index), MPI_T_ERR_INVALID_INDEX);
    ENDS_UNLESS(num_events, MPI_T_ERR_INVALID);
    *num_events = 0;
    return MPI_SUCCESS;
}

/* give writes the first len of n indices. */
static int give(const int *from, int n, int len, int *indices)
{
    ENDS_UNLESS(len >= 0 && (indices || len == 0), MPI_T_ERR_INVALID);
    for (int i = 0; i < n && i < len; i++)
        indices[i] = from[i];
    return MPI_SUCCESS;
}

ABI(int, T_category_get_cvars, (int cat_index, int len, int indices[]))
{
    const struct category *c = tool_category(cat_index);
    ENDS_UNLESS_BEGUN();
    ENDS_UNLESS(c, MPI_T_ERR_INVALID_INDEX);
    return give(c->controls, c->control_count, len, indices);
}

ABI(int, T_category_get_pvars, (int cat_index, int len, int indices[]))
{
    const struct category *c = tool_category(cat_index);
    ENDS_UNLESS_BEGUN();
    ENDS_UNLESS(c, MPI_T_ERR_INVALID_INDEX);
    return give(c->counters, c->counter_count, len, indices);
}

/* empty checks the arguments for a list that has nothing. */
static int empty(int cat_index, int len, int *indices)
{
    ENDS_UNLESS_BEGUN();
    ENDS_UNLESS(tool_category(cat_index), MPI_T_ERR_INVALID_INDEX);
    return give(NULL, 0, len, indices);
}

ABI(int, T_category_get_categories, (int cat_index, int len, int indices[]))
{
    return empty(cat_index, len, indices);
}

ABI(int, T_category_get_events, (int cat_index, int len, int indices[]))
{
    return empty(cat_index, len, indices);
}

/* Categories do not change. */
ABI(int, T_category_changed, (int *update_number))
{
    ENDS_UNLESS_BEGUN();
    ENDS_UNLESS(update_number, MPI_T_ERR_INVALID);
    *update_number = 0;
    return MPI_SUCCESS;
}

/* none is the class of a function that asks for something of which there is none. */
static int none(int class)
{
    ENDS_UNLESS_BEGUN();
    return class;
}

/* zero gives the number of things of which there are none. */
static int zero(int *number)
{
    ENDS_UNLESS_BEGUN();
    ENDS_UNLESS(number, MPI_T_ERR_INVALID);
    *number = 0;
    return MPI_SUCCESS;
}

ABI(int, T_event_get_num, (int *num_events)) { return zero(num_events); }
ABI(int, T_source_get_num, (int *num_sources)) { return zero(num_sources); }

ABI(int, T_event_get_info, (int event_index, char *name, int *name_len, int *verbosity,
    MPI_Datatype array_of_datatypes[], MPI_Aint array_of_displacements[], int *num_elements, MPI_T_enum *enumtype,
    MPI_Info *info, char *desc, int *desc_len, int *bind))
{
    return none(MPI_T_ERR_INVALID_INDEX);
}

ABI(int, T_event_get_index, (const char *name, int *event_index))
{
    return none(name && event_index ? MPI_T_ERR_INVALID_NAME : MPI_T_ERR_INVALID);
}

ABI(int, T_event_handle_alloc, (int event_index, void *obj_handle, MPI_Info info,
    MPI_T_event_registration *event_registration))
{
    return none(MPI_T_ERR_INVALID_INDEX);
}

ABI(int, T_source_get_info, (int source_index, char *name, int *name_len, char *desc, int *desc_len,
    MPI_T_source_order *ordering, MPI_Count *ticks_per_second, MPI_Count *max_ticks, MPI_Info *info))
{
    return none(MPI_T_ERR_INVALID_INDEX);
}

ABI(int, T_source_get_timestamp, (int source_index, MPI_Count *timestamp)) { return none(MPI_T_ERR_INVALID_INDEX); }

ABI(int, T_event_handle_free, (MPI_T_event_registration event_registration, void *user_data,
    MPI_T_event_free_cb_function *free_cb_function))
{
    return none(MPI_T_ERR_INVALID_HANDLE);
}

ABI(int, T_event_handle_get_info, (MPI_T_event_registration event_registration, MPI_Info *info_used))
{
    return none(MPI_T_ERR_INVALID_HANDLE);
}

ABI(int, T_event_handle_set_info, (MPI_T_event_registration event_registration, MPI_Info info))
{
    return none(MPI_T_ERR_INVALID_HANDLE);
}

ABI(int, T_event_callback_get_info, (MPI_T_event_registration event_registration, MPI_T_cb_safety cb_safety,
    MPI_Info *info_used))
{
    return none(MPI_T_ERR_INVALID_HANDLE);
}

ABI(int, T_event_callback_set_info, (MPI_T_event_registration event_registration, MPI_T_cb_safety cb_safety,
    MPI_Info info))
{
    return none(MPI_T_ERR_INVALID_HANDLE);
}

ABI(int, T_event_register_callback, (MPI_T_event_registration event_registration, MPI_T_cb_safety cb_safety,
    MPI_Info info, void *user_data, MPI_T_event_cb_function *event_cb_function))
{
    return none(MPI_T_ERR_INVALID_HANDLE);
}

ABI(int, T_event_set_dropped_handler, (MPI_T_event_registration event_registration,
    MPI_T_event_dropped_cb_function *dropped_cb_function))
{
    return none(MPI_T_ERR_INVALID_HANDLE);
}

ABI(int, T_event_read, (MPI_T_event_instance event_instance, int element_index, void *buffer))
{
    return none(MPI_T_ERR_INVALID_HANDLE);
}

ABI(int, T_event_copy, (MPI_T_event_instance event_instance, void *buffer)) { return none(MPI_T_ERR_INVALID_HANDLE); }

ABI(int, T_event_get_source, (MPI_T_event_instance event_instance, int *source_index))
{
    return none(MPI_T_ERR_INVALID_HANDLE);
}

ABI(int, T_event_get_timestamp, (MPI_T_event_instance event_instance, MPI_Count *event_timestamp))
{
    return none(MPI_T_ERR_INVALID_HANDLE);
}
