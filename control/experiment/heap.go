package experiment

// due is something that happens to somebody at a time, in seconds: of the
// clock, or of the CPU that one task of many has had.
type due struct {
	at   float64
	who  int32
	what what
}

// dueHeap has the earliest on top. It is container/heap without the interface:
// most of the simulator's time goes through here.
type dueHeap []due

func (h *dueHeap) push(d due) {
	*h = append(*h, d)
	s, i := *h, len(*h)-1
	for i > 0 {
		up := (i - 1) / 2
		if s[up].at <= s[i].at {
			break
		}
		s[up], s[i] = s[i], s[up]
		i = up
	}
}

func (h *dueHeap) pop() due {
	s := *h
	top, last := s[0], len(s)-1
	s[0] = s[last]
	s = s[:last]
	for i := 0; ; {
		least, left := i, 2*i+1
		if left < last && s[left].at < s[least].at {
			least = left
		}
		if right := left + 1; right < last && s[right].at < s[least].at {
			least = right
		}
		if least == i {
			break
		}
		s[i], s[least] = s[least], s[i]
		i = least
	}
	*h = s
	return top
}

// line is a queue of sessions or of jobs, first come, first served.
type line[T any] struct {
	items []T
	head  int
}

func (l *line[T]) len() int { return len(l.items) - l.head }

func (l *line[T]) put(x T) {
	if l.head > 64 && l.head*2 > len(l.items) {
		l.items = l.items[:copy(l.items, l.items[l.head:])]
		l.head = 0
	}
	l.items = append(l.items, x)
}

func (l *line[T]) take() T {
	x := l.items[l.head]
	l.head++
	return x
}
