/* MPI 5.0 chapter 12: windows of every kind, all three synchronizations, put, get, accumulate, atomics, request-based. */
#include "check.h"

static void fences(void)
{
    MPI_Win win;
    int *memory, in = -1;
    MPI_Win_allocate(4 * sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    memory[0] = memory[1] = memory[2] = 0;
    memory[3] = 1000 + rank;
    MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
    MPI_Put(&rank, 1, MPI_INT, next, 0, 1, MPI_INT, win);
    MPI_Get(&in, 1, MPI_INT, prev, 3, 1, MPI_INT, win);
    MPI_Accumulate(&rank, 1, MPI_INT, 0, 1, 1, MPI_INT, MPI_SUM, win);
    MPI_Put(&rank, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    CHECK(memory[0] == prev && in == 1000 + prev);
    CHECK(rank != 0 || memory[1] == size * (size - 1) / 2);
    MPI_Win_free(&win);
    CHECK(win == MPI_WIN_NULL);
}

static void post_start(void)
{
    MPI_Win win;
    MPI_Group world, from, to;
    _Alignas(64) int memory[16] = {-1}; /* MPICH 4.0 with UCX misplaces puts into a window that starts off alignment */
    int flag = 0;
    MPI_Win_create(memory, sizeof memory, sizeof memory[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &prev, &from);
    MPI_Group_incl(world, 1, &next, &to);
    for (int round = 0; round < 2; round++) {
        int value = rank + 10 * round;
        MPI_Win_post(from, 0, win);
        MPI_Win_start(to, 0, win);
        MPI_Put(&value, 1, MPI_INT, next, 0, 1, MPI_INT, win);
        MPI_Win_complete(win);
        if (round == 0)
            MPI_Win_wait(win);
        else
            for (flag = 0; !flag;)
                MPI_Win_test(win, &flag);
        CHECK(memory[0] == prev + 10 * round);
    }
    MPI_Group_free(&from);
    MPI_Group_free(&to);
    MPI_Group_free(&world);
    MPI_Win_free(&win);
}

static void locks(void)
{
    MPI_Win win;
    long *memory, one = 1, old = -1, compare = 0, zero = 0, result = -1;
    MPI_Win_allocate(4 * sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    memset(memory, 0, 4 * sizeof *memory);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, 0, win);
    MPI_Put(&one, 1, MPI_LONG, next, 3, 1, MPI_LONG, win);
    MPI_Win_flush(next, win);
    MPI_Get(&old, 1, MPI_LONG, next, 3, 1, MPI_LONG, win);
    MPI_Win_flush_local(next, win);
    CHECK(old == 1);
    MPI_Win_unlock(next, win);
    MPI_Win_lock(MPI_LOCK_SHARED, next, MPI_MODE_NOCHECK, win);
    MPI_Win_unlock(next, win);

    MPI_Request request[4];
    MPI_Win_lock_all(0, win);
    MPI_Fetch_and_op(&one, &old, MPI_LONG, 0, 0, MPI_SUM, win);
    MPI_Win_flush_all(win);
    CHECK(old >= 0 && old < size);
    MPI_Get_accumulate(&one, 1, MPI_LONG, &old, 1, MPI_LONG, 0, 1, 1, MPI_LONG, MPI_SUM, win);
    MPI_Compare_and_swap(&one, &compare, &result, MPI_LONG, rank, 2, win);
    MPI_Win_flush_local_all(win);
    MPI_Win_flush_all(win);
    CHECK(result == 0);
    MPI_Rput(&one, 1, MPI_LONG, next, 3, 1, MPI_LONG, win, &request[0]);
    MPI_Rget(&result, 1, MPI_LONG, rank, 2, 1, MPI_LONG, win, &request[1]);
    MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    CHECK(result == 1);
    MPI_Raccumulate(&zero, 1, MPI_LONG, 0, 0, 1, MPI_LONG, MPI_SUM, win, &request[2]);
    MPI_Rget_accumulate(&zero, 1, MPI_LONG, &old, 1, MPI_LONG, 0, 1, 1, MPI_LONG, MPI_NO_OP, win, &request[3]);
    MPI_Waitall(2, &request[2], MPI_STATUSES_IGNORE);
    MPI_Win_sync(win);
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    MPI_Get(&result, 1, MPI_LONG, 0, 0, 1, MPI_LONG, win);
    MPI_Win_unlock(0, win);
    CHECK(result == size);
    MPI_Win_free(&win);
}

static void other_windows(void)
{
    MPI_Win win;
    MPI_Aint bytes;
    disp_t unit;
    _Alignas(64) int part[16];
    int *memory, *theirs, model_set, name_length;
    int *model;
    char name[MPI_MAX_OBJECT_NAME];
    MPI_Group group;
    MPI_Info info;

    MPI_Win_allocate_shared(sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    *memory = rank;
    MPI_Win_fence(0, win);
    MPI_Win_shared_query(win, next, &bytes, &unit, &theirs);
    CHECK(bytes == sizeof *memory && unit == sizeof *memory && *theirs == next);
    MPI_Win_fence(0, win);
    MPI_Win_set_name(win, "shared");
    MPI_Win_get_name(win, name, &name_length);
    CHECK(strcmp(name, "shared") == 0);
    MPI_Win_get_attr(win, MPI_WIN_MODEL, &model, &model_set);
    CHECK(model_set && (*model == MPI_WIN_SEPARATE || *model == MPI_WIN_UNIFIED));
    MPI_Win_get_group(win, &group);
    MPI_Group_size(group, &model_set);
    CHECK(model_set == size);
    MPI_Group_free(&group);
    MPI_Win_get_info(win, &info);
    MPI_Win_set_info(win, info);
    MPI_Info_free(&info);
    MPI_Win_free(&win);

    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_attach(win, part, sizeof part);
    part[0] = -1;
    MPI_Aint here, there;
    MPI_Get_address(part, &here);
    MPI_Sendrecv(&here, 1, MPI_AINT, prev, 0, &there, 1, MPI_AINT, next, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Win_fence(0, win);
    MPI_Put(&rank, 1, MPI_INT, next, there, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    CHECK(part[0] == prev);
    MPI_Win_detach(win, part);
    MPI_Win_free(&win);

    char *plain;
    MPI_Alloc_mem(1024, MPI_INFO_NULL, &plain);
    plain[1023] = 1;
    MPI_Free_mem(plain);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    fences();
    post_start();
    locks();
    other_windows();
    return end();
}
