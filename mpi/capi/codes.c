/* Classes and codes of errors that programs add (9.5 of the standard). Numbers are never used again. */
#include "codes.h"
#include "fail.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { lowest = 16384 }; /* the standard keeps what is less */

/* One that the program has added. */
struct code {
    int class;  /* its own number if it is a class; 0 after its removal */
    int codes;  /* of a class: how many it has besides itself */
    char *text; /* NULL: none */
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
/* Under mutex. */
static struct code *codes;
static int used, room;

/* find is NULL if the program has not added that code. mutex is held. */
static struct code *find(int code)
{
    return code < lowest || code - lowest >= used || !codes[code - lowest].class ? NULL : &codes[code - lowest];
}

/* add gives a code of a class, 0 for a class of its own. The result is negative if there is no memory. mutex is held. */
static int add(int class)
{
    if (used == room) {
        int more = room ? 2 * room : 64;
        struct code *grown = realloc(codes, more * sizeof(*grown));
        if (!grown)
            return -1;
        codes = grown;
        room = more;
    }
    codes[used] = (struct code){.class = class ? class : lowest + used};
    return lowest + used++;
}

int codes_last(void)
{
    int last;
    pthread_mutex_lock(&mutex);
    last = lowest + used - 1;
    pthread_mutex_unlock(&mutex);
    return last;
}

int codes_class(int code)
{
    struct code *c;
    int class;
    pthread_mutex_lock(&mutex);
    c = find(code);
    class = c ? c->class : 0;
    pthread_mutex_unlock(&mutex);
    return class;
}

int codes_text(int code, char *text)
{
    struct code *c;
    int found;
    pthread_mutex_lock(&mutex);
    c = find(code);
    if ((found = c != NULL))
        strcpy(text, c->text ? c->text : "");
    pthread_mutex_unlock(&mutex);
    return found;
}

ABI_BODY(int, Add_error_class, (int *errorclass))
{
    int class;
    if (!errorclass)
        return fail_if_running(MPI_ERR_ARG);
    pthread_mutex_lock(&mutex);
    class = add(0);
    pthread_mutex_unlock(&mutex);
    if (class < 0)
        return fail_if_running(MPI_ERR_NO_MEM);
    *errorclass = class;
    return MPI_SUCCESS;
}

ABI_BODY(int, Add_error_code, (int errorclass, int *errorcode))
{
    struct code *class;
    int code, ours;
    if (!errorcode)
        return fail_if_running(MPI_ERR_ARG);
    pthread_mutex_lock(&mutex);
    class = find(errorclass);
    ours = class && class->class == errorclass;
    code = ours || codes_predefined(errorclass) ? add(errorclass) : -2;
    if (ours && code > 0)
        find(errorclass)->codes++;
    pthread_mutex_unlock(&mutex);
    if (code < 0)
        return fail_if_running(code == -1 ? MPI_ERR_NO_MEM : MPI_ERR_ARG);
    *errorcode = code;
    return MPI_SUCCESS;
}

/* set_text gives a code a text, which is the code's, or takes the old one away. */
static int set_text(int code, char *text, int remove)
{
    struct code *c;
    char *old = text;
    int found;
    pthread_mutex_lock(&mutex);
    c = find(code);
    if ((found = c && (!remove || c->text))) {
        old = c->text;
        c->text = text;
    }
    pthread_mutex_unlock(&mutex);
    free(old);
    return found ? MPI_SUCCESS : fail_if_running(MPI_ERR_ARG);
}

ABI_BODY(int, Add_error_string, (int errorcode, const char *string))
{
    char *text;
    if (!string || strlen(string) >= MPI_MAX_ERROR_STRING)
        return fail_if_running(MPI_ERR_ARG);
    return (text = strdup(string)) ? set_text(errorcode, text, 0) : fail_if_running(MPI_ERR_NO_MEM);
}

ABI_BODY(int, Remove_error_string, (int errorcode))
{
    return set_text(errorcode, NULL, 1);
}

/* discard removes a class without codes, or a code. */
static int discard(int code, int is_class)
{
    struct code *c, *class;
    int may;
    pthread_mutex_lock(&mutex);
    c = find(code);
    may = c && !c->text && (c->class == code) == is_class && c->codes == 0;
    if (may) {
        if ((class = find(c->class)) && !is_class)
            class->codes--;
        c->class = 0;
    }
    pthread_mutex_unlock(&mutex);
    return may ? MPI_SUCCESS : fail_if_running(MPI_ERR_ARG);
}

ABI_BODY(int, Remove_error_class, (int errorclass))
{
    return discard(errorclass, 1);
}

ABI_BODY(int, Remove_error_code, (int errorcode))
{
    return discard(errorcode, 0);
}
