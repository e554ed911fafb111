// Command empty does nothing: how long a Go program takes to start and end, for the line start of test/perf.
package main

func main() {}
