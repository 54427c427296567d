package rehearsal

import (
	"math/rand/v2"
	"strconv"
)

// keys draws the ordering keys of one session.
type keys struct {
	spec   Keys
	random *rand.Rand
	zipf   *rand.Zipf
}

func newKeys(spec Keys, random *rand.Rand) *keys {
	k := &keys{spec: spec, random: random}
	if spec.N > 0 && spec.Zipf > 1 {
		k.zipf = rand.NewZipf(random, spec.Zipf, 1, uint64(spec.N-1))
	}
	return k
}

// next is an ordering key, nil when jobs have none.
func (k *keys) next() []byte {
	if k.spec.N <= 0 {
		return nil
	}
	var n uint64
	if k.zipf != nil {
		n = k.zipf.Uint64()
	} else {
		n = k.random.Uint64N(uint64(k.spec.N))
	}
	return strconv.AppendUint([]byte("customer-"), n, 10)
}

// shardOfKey is the shard of an ordering key under a count: the hash of the
// SQL function, so that all producers agree.
func shardOfKey(key []byte, shards int) int16 {
	if shards <= 1 {
		return 0
	}
	h := uint64(14695981039346656037)
	for _, b := range key {
		h = h*1099511628211 + uint64(b)
	}
	return int16(h % uint64(shards))
}
