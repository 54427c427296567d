package tui

import "shardpilot/control"

// wish is what the controller wanted at a moment of the past, in three bytes a
// slot: enough for the overview's columns and the marks on charts.
type wish struct {
	to     uint8
	reason uint8 // place in memory.reasons, 0 for none
	state  uint8 // 0 when nothing decided
}

// The bits of wish.state: two of mode, two of action, one of pending.
const (
	wishModeBits   = 0x03
	wishGrow       = 0x04
	wishShrink     = 0x08
	wishPending    = 0x10
	wishWasDecided = 0x20
)

var wishModes = [...]control.Mode{control.ModeManual, control.ModeShadow, control.ModeEnforced, ""}

// wishOf makes a decision small. Reasons are numbered as they come; there are
// fewer than two hundred, and those beyond are taken for none.
func (m *memory) wishOf(d *control.Decision) wish {
	w := wish{to: uint8(min(max(d.To, 0), 255)), state: wishWasDecided, reason: m.reasonNumber(d.Reason)}
	mode := uint8(len(wishModes) - 1)
	for i, name := range wishModes {
		if d.Mode == name {
			mode = uint8(i)
		}
	}
	w.state |= mode
	switch d.Action {
	case control.ActionGrow:
		w.state |= wishGrow
	case control.ActionShrink:
		w.state |= wishShrink
	}
	if d.Pending || d.Step != nil {
		w.state |= wishPending
		if d.Step != nil {
			w.to = uint8(min(max(d.Step.To, 0), 255))
		}
	}
	return w
}

func (m *memory) reasonNumber(r control.Reason) uint8 {
	for i, known := range m.reasons {
		if known == r {
			return uint8(i + 1)
		}
	}
	if len(m.reasons) >= 200 {
		return 0
	}
	m.reasons = append(m.reasons, r)
	return uint8(len(m.reasons))
}

// decisionAt makes a decision of a wish again, with as much as was kept; nil
// when nothing decided then.
func (m *memory) decisionAt(queue string, from int, w wish) *control.Decision {
	if w.state&wishWasDecided == 0 {
		return nil
	}
	d := &control.Decision{Queue: queue, Mode: wishModes[w.state&wishModeBits], Action: control.ActionHold, From: from, To: int(w.to), Pending: w.state&wishPending != 0}
	switch {
	case w.state&wishGrow != 0:
		d.Action = control.ActionGrow
	case w.state&wishShrink != 0:
		d.Action = control.ActionShrink
	}
	if w.reason > 0 && int(w.reason) <= len(m.reasons) {
		d.Reason = m.reasons[w.reason-1]
	}
	return d
}

// wish records what was wanted in a slot that holds a reading.
func (h *ring) wish(second int64, w wish) {
	if slot := second / h.tier.step; h.holds(slot) {
		k := &h.rest[h.index(slot)]
		k.want, k.reason, k.state = w.to, w.reason, w.state
	}
}

func (h *ring) wishAt(slot int64) wish {
	k := &h.rest[h.index(slot)]
	return wish{to: k.want, reason: k.reason, state: k.state}
}

// wish records what was wanted at a second of the newest reading.
func (h *history) wish(second int64, w wish) {
	for _, r := range h.rings {
		if r != nil {
			r.wish(second, w)
		}
	}
}
