// Command shardpilot watches the enqueue lanes of Awa queues on PostgreSQL.
package main

func main() {}
