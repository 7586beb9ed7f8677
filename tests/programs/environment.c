/* MPI 5.0 chapters 7.7, 9, 10 and 11: attributes, error handlers, info objects, inquiry, names, times. */
#include "check.h"

static int copies, deletions, errors;

static int copy(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag)
{
    (void)comm, (void)key, (void)extra;
    *(void **)out = in;
    *flag = 1;
    copies++;
    return MPI_SUCCESS;
}

static int delete(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)value, (void)extra;
    deletions++;
    return MPI_SUCCESS;
}

static void comm_error(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
    errors++;
}

static void win_error(MPI_Win *win, int *code, ...)
{
    (void)win, (void)code;
    errors++;
}

static void file_error(MPI_File *file, int *code, ...)
{
    (void)file, (void)code;
    errors++;
}

static void attributes(void)
{
    int key, flag, value = 7, *got, *tag_limit;
    MPI_Comm comm;
    MPI_Comm_create_keyval(copy, delete, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, &value);
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    MPI_Comm_get_attr(comm, key, &got, &flag);
    CHECK(flag && *got == 7 && copies == 1);
    MPI_Comm_delete_attr(comm, key);
    MPI_Comm_free(&comm);
    MPI_Comm_delete_attr(MPI_COMM_SELF, key);
    CHECK(deletions == 2);
    MPI_Comm_free_keyval(&key);
    CHECK(key == MPI_KEYVAL_INVALID);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &tag_limit, &flag);
    CHECK(flag && *tag_limit >= 32767);

    MPI_Datatype type;
    MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &key, NULL);
    MPI_Type_contiguous(2, MPI_INT, &type);
    MPI_Type_set_attr(type, key, &value);
    MPI_Type_get_attr(type, key, &got, &flag);
    CHECK(flag && got == &value);
    MPI_Type_delete_attr(type, key);
    MPI_Type_free(&type);
    MPI_Type_free_keyval(&key);

    MPI_Win win;
    _Alignas(64) int memory[16];
    MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &key, NULL);
    MPI_Win_create(memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_SELF, &win);
    MPI_Win_set_attr(win, key, &value);
    MPI_Win_get_attr(win, key, &got, &flag);
    CHECK(flag && got == &value);
    MPI_Win_delete_attr(win, key);
    MPI_Win_free_keyval(&key);
    MPI_Win_free(&win);

    /* deprecated since MPI 2, still there */
    MPI_Keyval_create(MPI_NULL_COPY_FN, MPI_NULL_DELETE_FN, &key, NULL);
    MPI_Attr_put(MPI_COMM_SELF, key, &value);
    MPI_Attr_get(MPI_COMM_SELF, key, &got, &flag);
    CHECK(flag && got == &value);
    MPI_Attr_delete(MPI_COMM_SELF, key);
    MPI_Keyval_free(&key);
}

static void error_handlers(void)
{
    MPI_Errhandler handler, old;
    MPI_Comm_create_errhandler(comm_error, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
    MPI_Comm_get_errhandler(MPI_COMM_SELF, &old);
    MPI_Errhandler_free(&old);
    MPI_Comm_call_errhandler(MPI_COMM_SELF, MPI_ERR_OTHER);
    CHECK(errors == 1);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Errhandler_free(&handler);
    int x = 0; /* a call that fails and returns is a call like any other */
    CHECK(MPI_Send(&x, 1, MPI_INT, 5, 0, MPI_COMM_SELF) != MPI_SUCCESS);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);

    MPI_Win win;
    MPI_Win_create(NULL, 0, 1, MPI_INFO_NULL, MPI_COMM_SELF, &win);
    MPI_Win_create_errhandler(win_error, &handler);
    MPI_Win_set_errhandler(win, handler);
    MPI_Win_get_errhandler(win, &old);
    MPI_Errhandler_free(&old);
    MPI_Win_call_errhandler(win, MPI_ERR_OTHER);
    CHECK(errors == 2);
    MPI_Errhandler_free(&handler);
    MPI_Win_free(&win);

    MPI_File file;
    MPI_File_open(MPI_COMM_SELF, "/dev/null", MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
    MPI_File_create_errhandler(file_error, &handler);
    MPI_File_set_errhandler(file, handler);
    MPI_File_get_errhandler(file, &old);
    MPI_Errhandler_free(&old);
    MPI_File_call_errhandler(file, MPI_ERR_OTHER);
    CHECK(errors == 3);
    MPI_File_set_errhandler(file, MPI_ERRORS_RETURN);
    MPI_Errhandler_free(&handler);
    MPI_File_close(&file);

    int class, code, length;
    char text[MPI_MAX_ERROR_STRING];
    MPI_Add_error_class(&class);
    MPI_Add_error_code(class, &code);
    MPI_Add_error_string(code, "one of our own");
    MPI_Error_string(code, text, &length);
    CHECK(strstr(text, "one of our own") != NULL);
    MPI_Error_class(code, &length);
    CHECK(length == class);
}

static void infos(void)
{
    MPI_Info info, again;
    int count, flag, length;
    char key[MPI_MAX_INFO_KEY + 1], value[64];
    MPI_Info_create(&info);
    MPI_Info_set(info, "a key", "a value with spaces");
    MPI_Info_set(info, "second", "2");
    MPI_Info_get_nkeys(info, &count);
    CHECK(count == 2);
    MPI_Info_get_nthkey(info, 0, key);
    MPI_Info_get_valuelen(info, "a key", &length, &flag);
    CHECK(flag && length == 19);
    MPI_Info_get(info, "a key", 63, value, &flag);
    CHECK(flag && strcmp(value, "a value with spaces") == 0);
    MPI_Info_get(info, "none", 63, value, &flag);
    CHECK(!flag);
    MPI_Info_dup(info, &again);
    MPI_Info_delete(info, "second");
    MPI_Info_get_nkeys(again, &count);
    CHECK(count == 2);
    MPI_Info_free(&again);
    MPI_Info_free(&info);
    MPI_Comm_get_info(MPI_COMM_WORLD, &info);
    MPI_Comm_set_info(MPI_COMM_WORLD, info);
    MPI_Info_free(&info);
#if HAVE_MPI4
    length = sizeof value;
    MPI_Info_create(&info);
    MPI_Info_set(info, "k", "v");
    MPI_Info_get_string(info, "k", &length, value, &flag);
    CHECK(flag && strcmp(value, "v") == 0);
    MPI_Info_free(&info);
    char *no_arguments[] = {NULL};
    MPI_Info_create_env(0, no_arguments, &info);
    MPI_Info_free(&info);
#endif
}

static void inquiry(void)
{
    char name[MPI_MAX_PROCESSOR_NAME], version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length, major, minor, flag, level, op_commutes;
    MPI_Get_processor_name(name, &length);
    CHECK(length > 0);
    MPI_Get_version(&major, &minor);
    CHECK(major == MPI_VERSION && minor == MPI_SUBVERSION);
    MPI_Get_library_version(version, &length);
    CHECK(length > 0);
    MPI_Initialized(&flag);
    CHECK(flag);
    MPI_Finalized(&flag);
    CHECK(!flag);
    MPI_Query_thread(&level);
    CHECK(level >= MPI_THREAD_SINGLE);
    MPI_Is_thread_main(&flag);
    CHECK(flag);
    double start = MPI_Wtime();
    CHECK(MPI_Wtick() > 0 && MPI_Wtime() >= start);
    MPI_Op_commutative(MPI_SUM, &op_commutes);
    CHECK(op_commutes);
    MPI_Comm parent;
    MPI_Comm_get_parent(&parent);
    CHECK(parent == MPI_COMM_NULL);
}

int main(int argc, char **argv)
{
    int flag, major, minor;
    MPI_Initialized(&flag); /* allowed before MPI_Init, as are a few others */
    CHECK(!flag);
    MPI_Get_version(&major, &minor);
    begin(&argc, &argv);
    attributes();
    error_handlers();
    infos();
    inquiry();
    MPI_Finalize();
    PMPI_Finalized(&flag); /* nothing is recorded after MPI_Finalize, so it is not to be tallied either */
    if (flag && rank == 0)
        printf("ok\n");
    return !flag;
}
