/* A linked list, a binary tree and recursion, function pointers and callbacks. */
#include <stdio.h>
#include <stdlib.h>
#include "crunner.h"

struct node { int key; struct node *left, *right; };
typedef int (*visit)(int key, void *context);

static struct node *insert(struct node *tree, int key)
{
    if (!tree) {
        struct node *n = calloc(1, sizeof *n);
        if (n)
            n->key = key;
        return n;
    }
    if (key < tree->key)
        tree->left = insert(tree->left, key);
    else if (key > tree->key)
        tree->right = insert(tree->right, key);
    return tree;
}
static int walk(struct node *tree, visit f, void *context)
{
    if (!tree)
        return 0;
    int r = walk(tree->left, f, context);
    return r ? r : (r = f(tree->key, context)) ? r : walk(tree->right, f, context);
}
static void drop(struct node *tree)
{
    if (tree) {
        drop(tree->left);
        drop(tree->right);
        free(tree);
    }
}
static int print(int key, void *context) { printf("%d ", key); ++*(int *)context; return 0; }
static int find(int key, void *context) { return key == *(int *)context; }

static const visit visitors[] = {print, find};

int main(void)
{
    struct node *tree = NULL;
    int n = crunner_get_byte() % 20, count = 0, wanted;
    for (int i = 0; i < n; i++)
        tree = insert(tree, (signed char)crunner_get_byte());
    walk(tree, visitors[0], &count);
    wanted = (signed char)crunner_get_byte();
    int found = walk(tree, visitors[1], &wanted);
    printf("| %d %d\n", count, found);
    drop(tree);
    return found;
}
