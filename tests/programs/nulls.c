/* NULL wherever the standard allows it: results of the tool interface that are not wanted, arrays without elements, arguments that count
 * on the root only, buffers of no elements; and everything that may be called before MPI_Init and after MPI_Finalize. */
#include "check.h"

/* MPI 5.0 section 15.3: every OUT argument of the functions that tell about variables may be NULL. */
static void tool(void)
{
    int provided, count;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_T_cvar_get_num(&count);
    CHECK(count > 0);
    for (int i = 0; i < count; i++)
        MPI_T_cvar_get_info(i, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
    MPI_T_pvar_get_num(&count);
    for (int i = 0; i < count; i++)
        MPI_T_pvar_get_info(i, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
    MPI_T_category_get_num(&count);
    for (int i = 0; i < count; i++)
        MPI_T_category_get_info(i, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
    /* The datatype of a variable, of which MPI may not be asked anything before MPI_Init. */
    MPI_T_cvar_get_num(&count);
    for (int i = 0; i < count; i++) {
        MPI_Datatype type = MPI_DATATYPE_NULL;
        if (MPI_T_cvar_get_info(i, NULL, NULL, NULL, &type, NULL, NULL, NULL, NULL, NULL) == MPI_SUCCESS)
            CHECK(type != MPI_DATATYPE_NULL);
    }
}

/* What may be called at any time. */
static void outside(void)
{
    int flag, major, minor, length;
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    MPI_Initialized(&flag);
    MPI_Finalized(&flag);
    MPI_Get_version(&major, &minor);
    MPI_Get_library_version(text, &length);
#if HAVE_MPI4
    MPI_Info info;
    int keys;
    MPI_Info_create(&info);
    MPI_Info_set(info, "key", "value");
    MPI_Info_get_nkeys(info, &keys);
    CHECK(keys == 1);
    length = 0;
    MPI_Info_get_string(info, "key", &length, text, &flag);
    CHECK(flag && length == 6);
    MPI_Info_free(&info);
#endif
}

/* What is called when nothing is recorded any more, so not counted here either. */
static void after(void)
{
    int flag, major, minor, length;
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    PMPI_Initialized(&flag);
    PMPI_Finalized(&flag);
    if (!flag) abort();
    PMPI_Get_version(&major, &minor);
    PMPI_Get_library_version(text, &length);
}

/* Arrays of no elements, and arguments that are not significant here. */
static void nothing(void)
{
    MPI_Group all, none;
    MPI_Comm line;
    MPI_Datatype type;
    int flag, index, buffer[16], counts[16], places[16];
    MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE);
    MPI_Waitall(0, NULL, NULL);
    MPI_Testall(0, NULL, &flag, MPI_STATUSES_IGNORE);
    MPI_Waitany(0, NULL, &index, MPI_STATUS_IGNORE);
    MPI_Waitsome(0, NULL, &index, NULL, MPI_STATUSES_IGNORE);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 0, NULL, &none);
    MPI_Group_translate_ranks(all, 0, NULL, all, NULL);
    MPI_Type_create_struct(0, NULL, NULL, NULL, &type);
    MPI_Type_commit(&type);
    MPI_Type_free(&type);
    MPI_Type_indexed(0, NULL, NULL, MPI_INT, &type);
    MPI_Type_free(&type);
    MPI_Cart_create(MPI_COMM_WORLD, 0, NULL, NULL, 0, &line);
    if (line != MPI_COMM_NULL) {
        MPI_Cart_get(line, 0, NULL, NULL, NULL);
        MPI_Comm_free(&line);
    }
    MPI_Dist_graph_create(MPI_COMM_WORLD, 0, NULL, NULL, NULL, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &line);
    MPI_Dist_graph_neighbors(line, 0, NULL, MPI_UNWEIGHTED, 0, NULL, MPI_UNWEIGHTED);
    MPI_Neighbor_alltoallv(NULL, NULL, NULL, MPI_INT, NULL, NULL, NULL, MPI_INT, line);
    MPI_Comm_free(&line);
    MPI_Send(NULL, 0, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
    MPI_Recv(NULL, 0, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < size && i < 16; i++)
        counts[i] = 1, places[i] = i;
    MPI_Gatherv(&rank, 1, MPI_INT, rank ? NULL : buffer, rank ? NULL : counts, rank ? NULL : places, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Scatterv(rank ? NULL : buffer, rank ? NULL : counts, rank ? NULL : places, MPI_INT, &index, 1, MPI_INT, 0, MPI_COMM_WORLD);
    CHECK(index == rank);
    MPI_Reduce(&rank, rank ? NULL : &index, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
#if defined(MPICH_VERSION) && !defined(I_MPI_VERSION)
    /* What is no datatype where the argument does not count. */
    MPI_Datatype absent = (MPI_Datatype)0x8c00ffff;
    MPI_Gather(&rank, 1, MPI_INT, rank ? NULL : buffer, 1, rank ? absent : MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Allgather(MPI_IN_PLACE, 0, absent, buffer, 1, MPI_INT, MPI_COMM_WORLD);
#endif
    MPI_Group_free(&all);
}

int main(void)
{
    tool();
    outside();
    begin(NULL, NULL);
    nothing();
    tool();
    /* Not before MPI_Init: MPICH 4.0 and Open MPI 5.0 do not come through MPI_Init after it. */
    MPI_T_finalize();
    MPI_T_finalize();
    MPI_Finalize();
    after();
    if (rank == 0)
        printf("ok\n");
    return 0;
}
