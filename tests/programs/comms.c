/* MPI 5.0 chapter 7: every way to make a communicator, messages on each, freed or left, and handles that come back. */
#include "check.h"

/* A ring of messages and a reduction show that the communicator works; its ranks follow MPI_COMM_WORLD's order. */
static void use(MPI_Comm comm)
{
    int me, n, got = -1, sum = 0;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &n);
    MPI_Sendrecv(&me, 1, MPI_INT, (me + 1) % n, 6, &got, 1, MPI_INT, (me + n - 1) % n, 6, comm, MPI_STATUS_IGNORE);
    CHECK(got == (me + n - 1) % n);
    MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, comm);
    CHECK(sum == n * (n - 1) / 2);
}

static void duplicates(void)
{
    MPI_Comm a, b, c;
    MPI_Request request;
    int result;
    MPI_Comm_dup(MPI_COMM_WORLD, &a);
    use(a);
    MPI_Comm_compare(a, MPI_COMM_WORLD, &result);
    CHECK(result == MPI_CONGRUENT);
    MPI_Comm_idup(a, &b, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    use(b);
    MPI_Comm_dup_with_info(b, MPI_INFO_NULL, &c);
    use(c);
    MPI_Comm_free(&b);
    MPI_Comm_free(&a);
    use(c);
    MPI_Comm_disconnect(&c);
    CHECK(c == MPI_COMM_NULL);
#if HAVE_MPI4
    MPI_Comm_idup_with_info(MPI_COMM_WORLD, MPI_INFO_NULL, &a, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    use(a);
    MPI_Comm_free(&a);
#endif
}

static void parts(void)
{
    MPI_Comm half, node, some;
    MPI_Group world, group;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    use(half);
    MPI_Comm_split(half, rank == 0 ? MPI_UNDEFINED : 0, -rank, &some); /* rank 0 stays out, the others turn round */
    if (rank == 0)
        CHECK(some == MPI_COMM_NULL);
    else {
        use(some);
        MPI_Comm_free(&some);
    }
    MPI_Comm_free(&half);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
    use(node);
    MPI_Comm_free(&node);

    int first[1][3] = {{0, (size - 1) / 2, 1}};
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_range_incl(world, 1, first, &group);
    MPI_Comm_create(MPI_COMM_WORLD, group, &some);
    if (rank <= (size - 1) / 2) {
        use(some);
        MPI_Comm_free(&some);
        MPI_Comm_create_group(MPI_COMM_WORLD, group, 17, &some); /* only the members call this */
        use(some);
        MPI_Comm_free(&some);
    } else
        CHECK(some == MPI_COMM_NULL);
    MPI_Group_free(&group);
    MPI_Group_free(&world);
}

static void between(void)
{
    MPI_Comm half, inter, again, merged;
    MPI_Group group;
    int is_inter, n;
    if (size < 2)
        return;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 3, &inter);
    MPI_Comm_test_inter(inter, &is_inter);
    CHECK(is_inter);
    MPI_Comm_remote_group(inter, &group);
    MPI_Group_size(group, &n);
    CHECK(n == (rank % 2 ? (size + 1) / 2 : size / 2));
    MPI_Group_free(&group);
    /* rank i of one side and rank i of the other, as far as both exist */
    int me, other = -1;
    MPI_Comm_rank(inter, &me);
    if (me < size / 2) {
        MPI_Sendrecv(&rank, 1, MPI_INT, me, 4, &other, 1, MPI_INT, me, 4, inter, MPI_STATUS_IGNORE);
        CHECK(other == (rank ^ 1));
    }
    MPI_Comm_dup(inter, &again);
    MPI_Intercomm_merge(again, rank % 2, &merged);
    use(merged);
    MPI_Comm_free(&merged);
    MPI_Comm_free(&again);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
}

static void cycles(void)
{
    MPI_Comm comm;
    for (int i = 0; i < (size <= 2 ? 300 : 60); i++) {
        if (i % 3 == 0)
            MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        else
            MPI_Comm_split(MPI_COMM_WORLD, i % 3 == 1 ? 0 : rank % 2, rank, &comm);
        int me, n, got = -1;
        MPI_Comm_rank(comm, &me);
        MPI_Comm_size(comm, &n);
        MPI_Sendrecv(&i, 1, MPI_INT, (me + 1) % n, 0, &got, 1, MPI_INT, (me + n - 1) % n, 0, comm, MPI_STATUS_IGNORE);
        CHECK(got == i);
        MPI_Comm_free(&comm);
    }
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    char name[MPI_MAX_OBJECT_NAME];
    int length;
    MPI_Comm kept, derived;

    use(MPI_COMM_WORLD);
    use(MPI_COMM_SELF);
    duplicates();
    parts();
    between();
    cycles();

    MPI_Comm_dup(MPI_COMM_WORLD, &kept);
    MPI_Comm_set_name(kept, "kept, \"never\" freed");
    MPI_Comm_get_name(kept, name, &length);
    CHECK(length == (int)strlen(name) && strcmp(name, "kept, \"never\" freed") == 0);
    MPI_Comm_split(kept, 0, rank, &derived);
    use(derived);
    use(kept); /* both are still there at MPI_Finalize */
    return end();
}
