// What a process costs that does nothing: the measure of build/bench/start.
int main() {}
