package db

// Our advisory locks are two int4 keys, which PostgreSQL keeps apart from all
// one-int8 keys by objsubid = 2 against 1. Awa uses one-int8 keys only, so no
// value here can meet one of Awa's.
const (
	// lockClass is "SPLT" in ASCII.
	lockClass int32 = 0x53504c54
	// lockLeader is held for the life of a session by the process that leads.
	lockLeader int32 = 1
	// lockInstall is held for the length of a transaction by an installer.
	lockInstall int32 = 2
	// lockLog is held for the length of a transaction by whoever writes to the
	// log, so that entries become visible in the order of their ids.
	lockLog int32 = 3
	// lockGate is held for the length of a transaction by whoever writes a shard
	// count: one change at a time in a database.
	lockGate int32 = 4
)
