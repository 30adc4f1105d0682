package am

import (
	"testing"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/transport/credit"
)

// TestLongRecords: a record that costs more than its eight bits can say spends and gives back what it costs.
func TestLongRecords(t *testing.T) {
	const payload, loan = 100 << 10, 1000
	cost := credit.Cost(headerBytes + payload)
	for _, v := range []variant{
		{name: "words", cfg: conduit.Config{Loan: loan, MaxRecord: 128 << 10}},
		{name: "bare", cfg: conduit.Config{Loan: loan, MaxRecord: 128 << 10}, bare: true},
	} {
		t.Run(v.name, func(t *testing.T) {
			es := endpoints(t, 2, v, Config{Loan: loan})
			got := 0
			for _, e := range es {
				if err := e.Register(10, Spec{Name: "x", MaxReply: NoReply, Run: func(_ *Token, _ []uint64, p []byte) {
					if len(p) == payload {
						got++
					}
				}}); err != nil {
					t.Fatal(err)
				}
			}
			data := make([]byte, payload)
			sent := 0
			for range 20 {
				for { // as many as the loan pays for
					body, first, o := es[0].Open(1, 10, 0, payload)
					if o != Opened {
						es[0].Abandon(1)
						break
					}
					copy(body, data)
					es[0].Commit(1, first)
					sent++
				}
				if under := sent - got; under != loan/cost {
					t.Fatalf("%d records of %d credits under way, with a loan of %d", under, cost, loan)
				}
				for got < sent {
					es[1].Poll()
					es[0].Poll()
				}
				for range 2 * idlePollsToSend { // debts are told
					es[1].Poll()
					es[0].Poll()
				}
			}
		})
	}
}
