package record

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"shardpilot/control"
)

// hasher replaces names by others that mean nothing outside one recording: the
// same name always gets the same one, by a key that is kept nowhere. Free text,
// which people and servers wrote, is left out.
type hasher struct {
	key   []byte
	known map[string]string
}

// hidden stands for free text.
const hidden = "left out (--hash-names)"

func newHasher() *hasher {
	key := make([]byte, sha256.Size)
	_, _ = rand.Read(key) // never fails
	return &hasher{key: key, known: map[string]string{}}
}

// name is what stands for a name of a kind; nothing stands for none.
func (h *hasher) name(kind, raw string) string {
	if raw == "" {
		return ""
	}
	id := kind + "-" + raw
	out, ok := h.known[id]
	if !ok {
		mac := hmac.New(sha256.New, h.key)
		mac.Write([]byte(id))
		out = kind + "-" + hex.EncodeToString(mac.Sum(nil)[:5])
		if len(h.known) > 100_000 { // ids that come and go
			clear(h.known)
		}
		h.known[id] = out
	}
	return out
}

func (h *hasher) queue(s string) string { return h.name("queue", s) }

// person is an actor, name@host, or one of the two that are no person.
func (h *hasher) person(s string) string {
	if s == "controller" || s == "elsewhere" || s == "self" {
		return s
	}
	name, host, found := strings.Cut(s, "@")
	if !found {
		return h.name("user", name)
	}
	return h.name("user", name) + "@" + h.name("host", host)
}

func text(s string) string {
	if s == "" {
		return ""
	}
	return hidden
}

// telling are the reasons whose details name somebody or quote something.
var telling = []control.Reason{control.ReasonPinned, control.ReasonPausedUp, control.ReasonPausedDown, control.ReasonNotLeader,
	control.ReasonStore, control.ReasonAwaUnfit, control.ReasonAwaBusy, control.ReasonWarmUp}

func detail(r control.Reason, s string) string {
	if !r.Known() || slices.Contains(telling, r) {
		return text(s)
	}
	return s
}

// event is a copy without names. What it does not name stays shared.
func (h *hasher) event(ev control.Event) control.Event {
	ev.Leader, ev.InFlight = h.person(ev.Leader), h.queue(ev.InFlight)
	ev.Memory = memory(ev.Memory)
	w := &ev.World
	w.Lead.Name, w.Lead.Refused, w.Store, w.WarmWhy = h.person(w.Lead.Name), text(w.Lead.Refused), text(w.Store), text(w.WarmWhy)
	if ev.Err != nil {
		f := *ev.Err
		f.What, f.Hint = text(f.What), text(f.Hint)
		ev.Err = &f
	}
	if ev.Snapshot != nil {
		s := *ev.Snapshot
		h.snapshot(&s)
		ev.Snapshot = &s
	}
	ev.Decisions = slices.Clone(ev.Decisions)
	for i := range ev.Decisions {
		h.decision(&ev.Decisions[i])
	}
	ev.Entries = slices.Clone(ev.Entries)
	for i := range ev.Entries {
		h.entry(&ev.Entries[i])
	}
	ev.Changes = slices.Clone(ev.Changes)
	for i := range ev.Changes {
		c := &ev.Changes[i]
		if c.Actor != "controller" || c.Outcome != control.OutcomeApplied {
			c.Detail = text(c.Detail)
		}
		c.Queue, c.Actor = h.queue(c.Queue), h.person(c.Actor)
	}
	ev.Verifications = slices.Clone(ev.Verifications)
	for i := range ev.Verifications {
		ev.Verifications[i].Queue = h.queue(ev.Verifications[i].Queue)
	}
	return ev
}

// memory keeps the part of the sentence that the screen goes by.
func memory(s string) string {
	if s == "database" || s == "" {
		return s
	}
	if strings.HasPrefix(s, "watch only") {
		return "watch only: " + hidden
	}
	return hidden
}

func (h *hasher) snapshot(s *control.Snapshot) {
	d := &s.Database
	d.Host, d.Name, d.User, d.Label = h.name("host", d.Host), h.name("db", d.Name), h.name("user", d.User), h.name("label", d.Label)
	a := &s.Awa
	a.Schema, a.Missing, a.Sentence, a.Hint = h.name("schema", a.Schema), nil, text(a.Sentence), text(a.Hint)
	s.Readings = slices.Clone(s.Readings)
	for i := range s.Readings {
		r := &s.Readings[i]
		r.Queue = h.queue(r.Queue)
		r.Holder = h.holder(r.Holder)
		r.Lanes = slices.Clone(r.Lanes)
		for j := range r.Lanes {
			r.Lanes[j].Holder = h.holder(r.Lanes[j].Holder)
		}
		r.ProducerList = slices.Clone(r.ProducerList)
		for j := range r.ProducerList {
			p := &r.ProducerList[j]
			p.ID, p.Queue = h.name("producer", p.ID), h.queue(p.Queue)
			p.Application, p.Client = h.name("app", p.Application), h.name("addr", p.Client)
		}
	}
	s.Instances = slices.Clone(s.Instances)
	for i := range s.Instances {
		n := &s.Instances[i]
		n.ID, n.Hostname, n.Queues = h.name("instance", n.ID), h.name("host", n.Hostname), slices.Clone(n.Queues)
		for j := range n.Queues {
			n.Queues[j] = h.queue(n.Queues[j])
		}
	}
	s.Problems = slices.Clone(s.Problems)
	for i := range s.Problems {
		s.Problems[i].Detail, s.Problems[i].Hint = text(s.Problems[i].Detail), text(s.Problems[i].Hint)
	}
}

func (h *hasher) holder(o *control.Holder) *control.Holder {
	if o == nil {
		return nil
	}
	out := *o
	out.Application, out.User, out.Client = h.name("app", o.Application), h.name("user", o.User), h.name("addr", o.Client)
	return &out
}

func (h *hasher) decision(d *control.Decision) {
	d.Queue, d.Detail = h.queue(d.Queue), detail(d.Reason, d.Detail)
	d.Blockers = h.blockers(d.Blockers)
	if d.Step != nil {
		p := *d.Step
		p.Queue, p.Detail = h.queue(p.Queue), detail(p.Reason, p.Detail)
		d.Step = &p
	}
	q := &d.Policy
	q.Queue, q.AcceptedBy, q.UpdatedBy = h.queue(q.Queue), h.person(q.AcceptedBy), h.person(q.UpdatedBy)
	if q.Pin != nil {
		p := *q.Pin
		p.By, p.Why = h.person(p.By), text(p.Why)
		q.Pin = &p
	}
	q.PauseUp, q.PauseDown = h.pause(q.PauseUp), h.pause(q.PauseDown)
}

func (h *hasher) pause(p *control.Pause) *control.Pause {
	if p == nil {
		return nil
	}
	out := *p
	out.By, out.Why = h.person(out.By), text(out.Why)
	return &out
}

func (h *hasher) blockers(list []control.Blocker) []control.Blocker {
	list = slices.Clone(list)
	for i := range list {
		list[i].Detail = detail(list[i].Rule, list[i].Detail)
	}
	return list
}

func (h *hasher) entry(e *control.LogEntry) {
	byHand := e.Verb != "" || e.Kind == control.LogAct || e.Outcome != "" && e.Outcome != control.OutcomeApplied
	if e.Detail = detail(e.Reason, e.Detail); byHand {
		e.Detail = text(e.Detail)
	}
	e.Queue, e.Actor, e.Host, e.Why = h.queue(e.Queue), h.person(e.Actor), h.name("host", e.Host), text(e.Why)
	e.Role = h.name("user", e.Role)
	e.Blockers = h.blockers(e.Blockers)
}
