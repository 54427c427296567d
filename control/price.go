package control

import "strconv"

// claimMS is what one empty claim over four priorities took, in milliseconds,
// by shard count, on PostgreSQL 18.
var claimMS = [...]struct {
	shards int
	ms     float64
}{{1, 0.58}, {8, 1.43}, {16, 3.1}, {64, 9.9}}

// Price spells out what a change of the count costs, a sentence each, for
// whoever is about to make it; nil when nothing changes.
func Price(from, to int) []string {
	if from == to || to < MinShards {
		return nil
	}
	price := []string{"Keys move to other shards: the order of each key is broken until the jobs from before have drained."}
	if from <= MinShards && to > from {
		price = append(price,
			"Strict FIFO ends: order is kept within a shard only (partitioned FIFO).",
			"Two transactions that enqueue the same two keys in opposite order can deadlock.")
	}
	if to > from {
		price = append(price, "Lanes are for ever, and every claim looks at all of them: an empty claim takes about "+
			strconv.FormatFloat(claim(to), 'f', 1, 64)+" ms at "+strconv.Itoa(to)+", "+strconv.FormatFloat(claim(from), 'f', 1, 64)+
			" ms at "+strconv.Itoa(from)+"; lowering the count does not win that back.")
	} else {
		price = append(price, "The lanes stay, and so does what claims pay for them; jobs above the new count drain.")
	}
	if to > WarnMax {
		price = append(price, "More than "+strconv.Itoa(WarnMax)+" shards seldom pay.")
	}
	return append(price, "SQL producers follow at their next call; Rust stores and workers, who promote and retry, keep the old count until a restart.")
}

// claim interpolates the measured times.
func claim(shards int) float64 {
	last := claimMS[0]
	for _, next := range claimMS[1:] {
		if shards <= next.shards {
			return last.ms + (next.ms-last.ms)*float64(shards-last.shards)/float64(next.shards-last.shards)
		}
		last = next
	}
	return last.ms
}
