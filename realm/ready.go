package realm

import "container/heap"

// taskList is a queue of tasks, first in, first out.
type taskList struct {
	head, tail *task
}

func (l *taskList) isEmpty() bool { return l.head == nil }

func (l *taskList) pushTask(t *task) {
	t.next = nil
	if l.head == nil {
		l.head = t
	} else {
		l.tail.next = t
	}
	l.tail = t
}

func (l *taskList) popTask() *task {
	t := l.head
	if t != nil {
		l.head = t.next
	}
	return t
}

// taskHeap has tasks by priority, and those of the same priority by their coming.
type taskHeap struct {
	tasks  tasksByPriority
	serial uint64
}

func (h *taskHeap) addTask(t *task) {
	h.serial++
	t.serial = h.serial
	heap.Push(&h.tasks, t)
}

func (h *taskHeap) takeTask() *task {
	if len(h.tasks) == 0 {
		return nil
	}
	return heap.Pop(&h.tasks).(*task)
}

// top is the priority of the next task, or noTask.
func (h *taskHeap) top() int64 {
	if len(h.tasks) == 0 {
		return noTask
	}
	return int64(h.tasks[0].priority)
}

func (h *taskHeap) any() bool { return len(h.tasks) > 0 }

// positive tells whether the next task goes before those of the usual priority.
func (h *taskHeap) positive() bool { return h.top() > 0 }

type tasksByPriority []*task

// Len implements heap.Interface.
func (h tasksByPriority) Len() int { return len(h) }

// Less implements heap.Interface.
func (h tasksByPriority) Less(i, j int) bool {
	if h[i].priority != h[j].priority {
		return h[i].priority > h[j].priority
	}
	return h[i].serial < h[j].serial
}

// Swap implements heap.Interface.
func (h tasksByPriority) Swap(i, j int) { h[i], h[j] = h[j], h[i] }

// Push implements heap.Interface.
func (h *tasksByPriority) Push(x any) { *h = append(*h, x.(*task)) }

// Pop implements heap.Interface.
func (h *tasksByPriority) Pop() any {
	last := len(*h) - 1
	t := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	return t
}
