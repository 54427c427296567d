package rehearsal

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"os"
	"slices"
	"sync"
	"time"
)

const (
	// heartbeatEvery is Awa's interval between runtime snapshots.
	heartbeatEvery = 10 * time.Second
	// instanceVersion is what our worker processes call their version.
	instanceVersion = "0.7.0"
)

// instance is one worker process as awa.runtime_instances shows it.
type instance struct {
	session
	spec     Workers
	id       string // UUID
	hostname string

	mu       sync.Mutex
	inFlight map[string]int // jobs by queue
}

func newInstance(r *Running, spec Workers) *instance {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	application := cmp.Or(spec.Application, "worker")
	return &instance{
		session:  session{r: r, role: "heartbeat", application: application, notify: "on"},
		spec:     spec,
		id:       newUUID(),
		hostname: host,
		inFlight: map[string]int{},
	}
}

// busy adds n jobs in flight.
func (i *instance) busy(queue string, n int) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.inFlight[queue] += n
}

// run tells that the process lives until the end, and then that it leaves.
func (i *instance) run() {
	defer i.drop()
	for !i.r.over() {
		if !i.ready() {
			continue
		}
		if err := i.beat(false); err != nil {
			i.failed(err)
			continue
		}
		i.worked()
		i.r.pause(heartbeatEvery)
	}
	if i.conn != nil && i.r.ctx.Err() == nil {
		if err := i.beat(true); err != nil {
			i.r.report(i.role, "", i.application, err)
		}
	}
}

func (i *instance) beat(leaving bool) error {
	_, err := i.conn.Exec(i.r.ctx, statement("run/heartbeat.sql"),
		i.id, i.hostname, os.Getpid(), instanceVersion, i.r.started, heartbeatEvery.Milliseconds(),
		leaving, i.spec.Leader && !leaving, i.spec.Count, i.queues())
	if err != nil {
		return err
	}
	_, err = i.conn.Exec(i.r.ctx, statement("run/forget_instances.sql"))
	return err
}

// queueSnapshot is one element of runtime_instances.queues, as Awa writes it.
type queueSnapshot struct {
	Queue        string        `json:"queue"`
	InFlight     int           `json:"in_flight"`
	OverflowHeld *int          `json:"overflow_held"`
	Config       queueSettings `json:"config"`
}

type queueSettings struct {
	Mode              string `json:"mode"`
	MaxWorkers        int    `json:"max_workers"`
	MinWorkers        *int   `json:"min_workers"`
	Weight            *int   `json:"weight"`
	GlobalMaxWorkers  *int   `json:"global_max_workers"`
	PollIntervalMS    int64  `json:"poll_interval_ms"`
	DeadlineSecs      int    `json:"deadline_duration_secs"`
	AgingIntervalSecs int    `json:"priority_aging_interval_secs"`
	ClaimBatchSize    int    `json:"claim_batch_size"`
	RateLimit         *int   `json:"rate_limit"`
}

func (i *instance) queues() []byte {
	i.mu.Lock()
	defer i.mu.Unlock()
	list := []queueSnapshot{}
	for _, name := range slices.Compact(slices.Sorted(slices.Values(i.spec.Queues))) {
		list = append(list, queueSnapshot{Queue: name, InFlight: i.inFlight[name], Config: queueSettings{
			Mode: "hard_reserved", MaxWorkers: i.spec.Count, PollIntervalMS: idlePoll.Milliseconds(),
			ClaimBatchSize: cmp.Or(i.spec.Batch, 64),
		}})
	}
	b, err := json.Marshal(list)
	if err != nil { // plain numbers and strings always have a JSON form
		return []byte("[]")
	}
	return b
}

// newUUID is a random UUID, version 4.
func newUUID() string {
	var b [16]byte
	rand.Read(b[:]) // never fails
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	h := hex.EncodeToString(b[:])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}
