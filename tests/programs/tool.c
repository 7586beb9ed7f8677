/* MPI 5.0 section 15.3: the MPI tool information interface, in use before MPI_Init and after MPI_Finalize where that works. */
#include "check.h"

static void variables(void)
{
    int count, name_length, description_length, verbosity, bind, scope, index;
    char name[256], description[1024];
    MPI_Datatype type;
    MPI_T_enum enumeration;
    MPI_T_cvar_get_num(&count);
    CHECK(count > 0);
    int readable = 0;
    for (int i = 0; i < count && readable < 3; i++) {
        name_length = sizeof name, description_length = sizeof description;
        if (MPI_T_cvar_get_info(i, name, &name_length, &verbosity, &type, &enumeration, description, &description_length,
                                &bind, &scope) != MPI_SUCCESS)
            continue;
        CHECK(MPI_T_cvar_get_index(name, &index) == MPI_SUCCESS);
        if (type != MPI_INT || bind != MPI_T_BIND_NO_OBJECT)
            continue;
        MPI_T_cvar_handle handle;
        int elements, value[16];
        CHECK(MPI_T_cvar_handle_alloc(i, NULL, &handle, &elements) == MPI_SUCCESS);
        if (elements <= 16)
            MPI_T_cvar_read(handle, value);
        MPI_T_cvar_handle_free(&handle);
        readable++;
    }
    CHECK(readable == 3);
}

/* Performance variables: Open MPI has some, Debian's MPICH none. The first continuous or startable one is read. */
static void performance(void)
{
    int count, name_length, description_length, verbosity, class, bind, readonly, continuous, atomic, index, elements;
    char name[256], description[1024];
    MPI_Datatype type;
    MPI_T_enum enumeration;
    MPI_T_pvar_session session;
    MPI_T_pvar_handle handle;
    MPI_T_pvar_get_num(&count);
    MPI_T_pvar_session_create(&session);
    for (int i = 0; i < count; i++) {
        name_length = sizeof name, description_length = sizeof description;
        if (MPI_T_pvar_get_info(i, name, &name_length, &verbosity, &class, &type, &enumeration, description,
                                &description_length, &bind, &readonly, &continuous, &atomic) != MPI_SUCCESS)
            continue;
        MPI_T_pvar_get_index(name, class, &index);
        if (bind != MPI_T_BIND_NO_OBJECT)
            continue;
        if (MPI_T_pvar_handle_alloc(session, i, NULL, &handle, &elements) != MPI_SUCCESS)
            continue;
        unsigned long long value[64];
        if (!continuous)
            MPI_T_pvar_start(session, handle);
        if (elements <= 64)
            MPI_T_pvar_read(session, handle, value);
        if (!continuous)
            MPI_T_pvar_stop(session, handle);
        if (!readonly) {
            MPI_T_pvar_reset(session, handle);
            if (elements <= 64)
                MPI_T_pvar_readreset(session, handle, value);
        }
        MPI_T_pvar_handle_free(session, &handle);
        break;
    }
    MPI_T_pvar_session_free(&session);
}

/* Events: the interface is there since MPI 4, the implementations at hand have none to offer. */
static void events(void)
{
#if HAVE_MPI4
    int count;
    MPI_T_event_get_num(&count);
    MPI_T_source_get_num(&count);
    MPI_T_category_get_num_events(0, &count);
    int unused[1];
    MPI_T_category_get_events(0, 0, unused);
#endif
}

static void categories(void)
{
    int count, name_length, description_length, cvars, pvars, subcategories, stamp, index;
    char name[256], description[1024];
    MPI_T_category_get_num(&count);
    CHECK(count > 0);
    name_length = sizeof name, description_length = sizeof description;
    MPI_T_category_get_info(0, name, &name_length, description, &description_length, &cvars, &pvars, &subcategories);
    MPI_T_category_get_index(name, &index);
    MPI_T_category_changed(&stamp);
    int *list = malloc((cvars + pvars + subcategories + 1) * sizeof *list);
    MPI_T_category_get_cvars(0, cvars, list);
    MPI_T_category_get_pvars(0, pvars, list);
    MPI_T_category_get_categories(0, subcategories, list);
    free(list);
}

int main(int argc, char **argv)
{
    int level;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &level);
    begin(&argc, &argv);
    variables();
    performance();
    categories();
    events();
    MPI_T_finalize(); /* before MPI_Finalize: Open MPI 4.1 crashes the other way round */
    return end();
}
