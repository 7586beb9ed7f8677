/* The shared object of called.c. */
static int __attribute__((noinline)) once(int n)
{
    return n;
}

int shared_twice(int n)
{
    return once(n) + once(n);
}
