/* Info objects (chapter 10 of the standard). */
#include "info.h"
#include "fail.h"

#define NUMBER(info) ((uintptr_t)(info))

int info_done(int class) { return class == MPI_SUCCESS ? MPI_SUCCESS : fail(NULL, class); }

ABI_BODY(int, Info_create, (MPI_Info *info))
{
    return info_done(info ? golciInfoCreate((uintptr_t *)info) : MPI_ERR_ARG);
}

ABI_BODY(int, Info_create_env, (int argc, char *argv[], MPI_Info *info))
{
    return info_done(info ? golciInfoEnv(argv ? argc : 0, argv, (uintptr_t *)info) : MPI_ERR_ARG);
}

ABI_BODY(int, Info_dup, (MPI_Info info, MPI_Info *newinfo))
{
    return info_done(newinfo ? golciInfoDup(NUMBER(info), (uintptr_t *)newinfo) : MPI_ERR_ARG);
}

ABI_BODY(int, Info_free, (MPI_Info *info))
{
    int class = info ? golciInfoFree(NUMBER(*info)) : MPI_ERR_ARG;
    if (class == MPI_SUCCESS)
        *info = MPI_INFO_NULL;
    return info_done(class);
}

ABI_BODY(int, Info_set, (MPI_Info info, const char *key, const char *value))
{
    if (!key || !value)
        return info_done(key ? MPI_ERR_INFO_VALUE : MPI_ERR_INFO_KEY);
    return info_done(golciInfoSet(NUMBER(info), (char *)key, (char *)value));
}

ABI_BODY(int, Info_delete, (MPI_Info info, const char *key))
{
    return info_done(key ? golciInfoDelete(NUMBER(info), (char *)key) : MPI_ERR_INFO_KEY);
}

ABI_BODY(int, Info_get_nkeys, (MPI_Info info, int *nkeys))
{
    return info_done(nkeys ? golciInfoKeys(NUMBER(info), nkeys) : MPI_ERR_ARG);
}

ABI_BODY(int, Info_get_nthkey, (MPI_Info info, int n, char *key))
{
    return info_done(key ? golciInfoKey(NUMBER(info), n, key) : MPI_ERR_ARG);
}

/* look gets the value of a key. need is 0 if there is none. */
static int look(MPI_Info info, const char *key, int room, char *value, int *need)
{
    return key ? golciInfoGet(NUMBER(info), (char *)key, room, value, need) : MPI_ERR_INFO_KEY;
}

/* valuelen does not count the zero byte, for which value has room besides. */
ABI_BODY(int, Info_get, (MPI_Info info, const char *key, int valuelen, char *value, int *flag))
{
    int need = 0, class;
    if (!flag || valuelen < 0 || !value)
        return info_done(MPI_ERR_ARG);
    class = look(info, key, valuelen < MPI_MAX_INFO_VAL ? valuelen + 1 : MPI_MAX_INFO_VAL, value, &need);
    if (class == MPI_SUCCESS)
        *flag = need > 0;
    return info_done(class);
}

ABI_BODY(int, Info_get_valuelen, (MPI_Info info, const char *key, int *valuelen, int *flag))
{
    int need = 0, class;
    if (!flag || !valuelen)
        return info_done(MPI_ERR_ARG);
    class = look(info, key, 0, NULL, &need);
    if (class == MPI_SUCCESS && (*flag = need > 0))
        *valuelen = need - 1;
    return info_done(class);
}

ABI_BODY(int, Info_get_string, (MPI_Info info, const char *key, int *buflen, char *value, int *flag))
{
    int need = 0, class;
    if (!flag || !buflen || *buflen < 0 || (*buflen > 0 && !value))
        return info_done(MPI_ERR_ARG);
    class = look(info, key, *buflen, value, &need);
    if (class == MPI_SUCCESS && (*flag = need > 0))
        *buflen = need;
    return info_done(class);
}

int info_is(MPI_Info info)
{
    int n;
    return info == MPI_INFO_NULL || golciInfoKeys(NUMBER(info), &n) == MPI_SUCCESS;
}

ABI_BODY(int, Get_hw_resource_info, (MPI_Info *hw_info))
{
    return info_done(hw_info ? golciHardware((uintptr_t *)hw_info) : MPI_ERR_ARG);
}
