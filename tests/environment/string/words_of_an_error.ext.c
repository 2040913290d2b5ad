char *__wrap_strerror(int e) { return "Datei oder Verzeichnis nicht gefunden"; }
