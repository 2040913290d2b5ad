typedef void handler(void);
handler *handler_for(int event) { return 0; }
