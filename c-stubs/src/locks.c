/* Locks, for one thread.
 *
 * No other thread holds a lock, so only this thread can cause errors: it may lock a mutex twice,
 * which blocks for ever, fails or counts, depending on the kind of the mutex, or it may unlock a
 * mutex that is not locked. The state is stored in the lock itself, where glibc stores it too, so
 * that static initialisers have their usual meaning. */
#include "stub.h"

/* pthread_mutex_t: whether it is locked, the count of further locks, ..., its kind. */
enum { LOCKED = 0, COUNT = 1, KIND = 4 };
enum { NORMAL = 0, RECURSIVE = 1, ERROR_CHECKING = 2 };
static int kind(const int *m) { return m[KIND] & 3; }

/* A call that blocks for ever: the run is rejected. */
static int waits_for_ever(void) {
    crunner_assume(0);
    return STUB_EDEADLK;
}

STUB int CRUNNER_pthread_mutex_init(int *m, const int *attributes) {
    m[LOCKED] = m[COUNT] = 0;
    m[KIND] = attributes ? *attributes & 3 : NORMAL;
    return 0;
}
STUB int CRUNNER_pthread_mutex_lock(int *m) {
    /* The kind is read first, as in glibc, so the whole mutex must be readable. */
    int own = kind(m);
    if (!m[LOCKED]) {
        m[LOCKED] = 1;
        return 0;
    }
    if (own == ERROR_CHECKING) return STUB_EDEADLK;
    if (own != RECURSIVE) return waits_for_ever();
    if (m[COUNT] == INT_MAX) return STUB_EAGAIN;
    m[COUNT]++;
    return 0;
}
STUB int CRUNNER_pthread_mutex_trylock(int *m) {
    if (m[LOCKED] && kind(m) != RECURSIVE) return STUB_EBUSY;
    return CRUNNER_pthread_mutex_lock(m);
}
STUB int CRUNNER_pthread_mutex_timedlock(int *m, const void *until) {
    if (m[LOCKED] && kind(m) != RECURSIVE && kind(m) != ERROR_CHECKING) return 110; /* ETIMEDOUT */
    return CRUNNER_pthread_mutex_lock(m);
}
STUB int CRUNNER_pthread_mutex_unlock(int *m) {
    int own = kind(m);
    if (!m[LOCKED]) return own == RECURSIVE || own == ERROR_CHECKING ? STUB_EPERM : 0;
    if (m[COUNT]) m[COUNT]--;
    else m[LOCKED] = 0;
    return 0;
}
STUB int CRUNNER_pthread_mutex_destroy(int *m) {
    (void)kind(m);
    return m[LOCKED] ? STUB_EBUSY : 0;
}

STUB int CRUNNER_pthread_mutexattr_init(int *attributes) {
    *attributes = NORMAL;
    return 0;
}
STUB int CRUNNER_pthread_mutexattr_destroy(int *attributes) { return 0; }
STUB int CRUNNER_pthread_mutexattr_settype(int *attributes, int type) {
    if (type < 0 || type > 3) return STUB_EINVAL;
    *attributes = type;
    return 0;
}
STUB int CRUNNER_pthread_mutexattr_gettype(const int *attributes, int *type) {
    *type = *attributes & 3;
    return 0;
}

/* pthread_rwlock_t: the number of readers, and whether there is a writer. */
enum { READERS = 0, WRITER = 1 };

STUB int CRUNNER_pthread_rwlock_init(int *l, const void *attributes) {
    l[READERS] = l[WRITER] = 0;
    return 0;
}
STUB int CRUNNER_pthread_rwlock_rdlock(int *l) {
    if (l[WRITER]) return STUB_EDEADLK;
    if (l[READERS] == INT_MAX) return STUB_EAGAIN;
    l[READERS]++;
    return 0;
}
STUB int CRUNNER_pthread_rwlock_tryrdlock(int *l) {
    return l[WRITER] ? STUB_EBUSY : CRUNNER_pthread_rwlock_rdlock(l);
}
STUB int CRUNNER_pthread_rwlock_wrlock(int *l) {
    if (l[WRITER]) return STUB_EDEADLK;
    if (l[READERS]) return waits_for_ever();
    l[WRITER] = 1;
    return 0;
}
STUB int CRUNNER_pthread_rwlock_trywrlock(int *l) {
    if (l[WRITER] || l[READERS]) return STUB_EBUSY;
    l[WRITER] = 1;
    return 0;
}
STUB int CRUNNER_pthread_rwlock_unlock(int *l) {
    if (l[WRITER]) l[WRITER] = 0;
    else if (l[READERS]) l[READERS]--;
    return 0;
}
STUB int CRUNNER_pthread_rwlock_destroy(int *l) { return 0; }

/* pthread_spinlock_t: 1 means free, as in glibc. */
STUB int CRUNNER_pthread_spin_init(int *lock, int shared) {
    *lock = 1;
    return 0;
}
STUB int CRUNNER_pthread_spin_lock(int *lock) {
    if (*lock != 1) return waits_for_ever();
    *lock = 0;
    return 0;
}
STUB int CRUNNER_pthread_spin_trylock(int *lock) {
    if (*lock != 1) return STUB_EBUSY;
    *lock = 0;
    return 0;
}
STUB int CRUNNER_pthread_spin_unlock(int *lock) {
    *lock = 1;
    return 0;
}
STUB int CRUNNER_pthread_spin_destroy(int *lock) { return 0; }

/* No thread waits for a condition. */
#define NOBODY_WAITS(name) \
    STUB int CRUNNER_##name(int *condition) { return condition[0] = 0; }
NOBODY_WAITS(pthread_cond_signal)
NOBODY_WAITS(pthread_cond_broadcast)
NOBODY_WAITS(pthread_cond_destroy)
STUB int CRUNNER_pthread_cond_init(int *condition, const void *attributes) {
    return condition[0] = 0;
}

STUB unsigned long CRUNNER_pthread_self(void) { return 1; }
STUB int CRUNNER_pthread_equal(unsigned long a, unsigned long b) { return a == b; }

/* Thread-specific values by key, for a thread that never ends: destructors are not called. POSIX
 * guarantees 128 keys, but key creation may fail before. */
#define KEYS 128
static const void *values[KEYS];
static int used[KEYS];

STUB int CRUNNER_pthread_key_create(unsigned *key, void (*destructor)(void *)) {
    int error = crunner_fault("pthread_key_create", E(EAGAIN) | E(ENOMEM), 0);
    if (error) return error;
    for (unsigned i = 0; i < KEYS; i++)
        if (!used[i]) {
            used[i] = 1;
            values[i] = 0;
            *key = i;
            return 0;
        }
    return STUB_EAGAIN;
}
static int is_key(unsigned key) { return key < KEYS && used[key]; }
STUB int CRUNNER_pthread_key_delete(unsigned key) {
    if (!is_key(key)) return STUB_EINVAL;
    used[key] = 0;
    return 0;
}
STUB void *CRUNNER_pthread_getspecific(unsigned key) {
    return is_key(key) ? (void *)values[key] : 0;
}
STUB int CRUNNER_pthread_setspecific(unsigned key, const void *value) {
    if (!is_key(key)) return STUB_EINVAL;
    values[key] = value;
    return 0;
}
STUB int CRUNNER_pthread_once(int *control, void (*once)(void)) {
    if (*control) return 0;
    *control = 1;
    once();
    return 0;
}
