/* Descriptors behind descriptors: the third pointer is not checked. */
struct endpoint {
    unsigned char address;
    unsigned short max_packet;
};

struct alternate {
    unsigned char class_code;
    struct endpoint *endpoint;
};

struct interface {
    struct alternate *current;
    int number;
};

extern struct interface *usb_interface(int minor);

int main(void)
{
    struct interface *interface = usb_interface(3);
    struct alternate *alternate;

    if (!interface || interface->number != 1)
        return 1;
    alternate = interface->current;
    if (!alternate || alternate->class_code != 0x0a)
        return 2;
#ifdef FIXED
    if (!alternate->endpoint)
        return 3;
#endif
    return alternate->endpoint->max_packet; /* here */
}
