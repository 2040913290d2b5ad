static void (*kept)(void);
void on_event(void (*f)(void)) { kept = f; }
void step(void)
{
    if (kept)
        kept();
}
