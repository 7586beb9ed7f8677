/* MPI 5.0 section 7.3: groups. */
#include "check.h"

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    MPI_Group world, a, b, c;
    int n, me, result, zero = 0, last = size - 1, translated[2], pair[2] = {0, size - 1}, range[1][3] = {{0, size - 1, 2}};

    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_size(world, &n);
    MPI_Group_rank(world, &me);
    CHECK(n == size && me == rank);
    MPI_Group_incl(world, 1, &zero, &a);
    MPI_Group_excl(world, 1, &zero, &b);
    MPI_Group_size(b, &n);
    CHECK(n == size - 1);
    MPI_Group_union(a, b, &c);
    MPI_Group_compare(c, world, &result);
    CHECK(result == MPI_IDENT);
    MPI_Group_free(&c);
    MPI_Group_intersection(a, b, &c);
    CHECK(c == MPI_GROUP_EMPTY);
    MPI_Group_difference(world, b, &c);
    MPI_Group_compare(a, c, &result);
    CHECK(result == MPI_IDENT);
    MPI_Group_free(&c);
    MPI_Group_range_incl(world, 1, range, &c);
    MPI_Group_size(c, &n);
    CHECK(n == (size + 1) / 2);
    MPI_Group_translate_ranks(world, 2, pair, c, translated);
    CHECK(translated[0] == 0 && translated[1] == (last % 2 ? MPI_UNDEFINED : last / 2));
    MPI_Group_free(&c);
    MPI_Group_range_excl(world, 1, range, &c);
    MPI_Group_size(c, &n);
    CHECK(n == size / 2);
    if (c != MPI_GROUP_EMPTY)
        MPI_Group_free(&c);
    MPI_Group_free(&a);
    if (b != MPI_GROUP_EMPTY)
        MPI_Group_free(&b);
    MPI_Group_free(&world);
    return end();
}
