package udp_test

import (
	"fmt"
	"testing"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/transport/udp/mmsg"
	"github.com/golci/golci/internal/transport/udp/seal"
)

type counter struct{ records, bytes int }

func (s *counter) Record(int, []byte)                      { s.records++ }
func (s *counter) Bulk(_ int, _ uint64, _ int64, b []byte) { s.bytes += len(b) }

// Gone implements conduit.Sink.
func (*counter) Gone(int, error) {}

// BenchmarkOneCore is a record there and another back, both ends on one core: what is spent on each, system included.
func BenchmarkOneCore(b *testing.B) {
	b.Run("bare", func(b *testing.B) {
		var s [2]mmsg.Socket
		for i := range s {
			s[i] = mustOpen(b)
		}
		in := []mmsg.Datagram{{Buf: make([]byte, 2048)}}
		for range b.N {
			for i := range s {
				out := []mmsg.Datagram{{Buf: in[0].Buf[:64], Addr: s[1-i].Info().Addr}}
				for n := 0; n == 0; {
					n, _ = s[i].Send(out)
				}
				for n := 0; n == 0; {
					n, _ = s[1-i].Recv(in)
				}
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(2*b.N), "ns/record")
	})
	for _, mode := range []seal.Mode{seal.Trust, seal.Authenticate, seal.Encrypt} {
		b.Run(fmt.Sprint(mode), func(b *testing.B) {
			cs := job{mode: mode}.open(b, 2, conduit.Config{})
			b.ResetTimer()
			for range b.N {
				for i := range cs {
					exchange(b, cs[i], cs[1-i], 1-i)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(2*b.N), "ns/record")
			b.StopTimer()
			for _, c := range cs {
				if err := c.Close(); err != nil {
					b.Error(err)
				}
			}
		})
	}
}

func mustOpen(b *testing.B) mmsg.Socket {
	s, err := mmsg.Open(loopback, mmsg.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() })
	return s
}

func exchange(b *testing.B, from, to conduit.Conduit, rank int) {
	var s counter
	for {
		_, st := from.Reserve(rank, conduit.Request, 64)
		if st == conduit.OK {
			break
		}
		if st == conduit.Dead {
			b.Fatal(from.Failed(rank))
		}
		from.Poll(8, &s)
	}
	from.Commit(rank, 64)
	for s.records == 0 {
		if to.Pending() {
			to.Poll(8, &s)
		}
	}
}

// BenchmarkPingPong is the latency of a record between two cores, both ends spinning; half of the time there and back.
func BenchmarkPingPong(b *testing.B) {
	b.Run("bare", func(b *testing.B) {
		s := [2]mmsg.Socket{mustOpen(b), mustOpen(b)}
		pingPong(b, func(i int) (send, await func()) {
			in := []mmsg.Datagram{{Buf: make([]byte, 2048)}}
			out := []mmsg.Datagram{{Buf: make([]byte, 64), Addr: s[1-i].Info().Addr}}
			return func() {
					for n := 0; n == 0; {
						n, _ = s[i].Send(out)
					}
				}, func() {
					for n := 0; n == 0; {
						n, _ = s[i].Recv(in)
					}
				}
		})
	})
	for _, mode := range []seal.Mode{seal.Trust, seal.Encrypt} {
		b.Run(fmt.Sprint(mode), func(b *testing.B) {
			cs := job{mode: mode}.open(b, 2, conduit.Config{})
			pingPong(b, func(i int) (send, await func()) {
				s := &counter{}
				return func() {
						for {
							if _, st := cs[i].Reserve(1-i, conduit.Request, 64); st == conduit.OK {
								cs[i].Commit(1-i, 64)
								return
							}
							cs[i].Poll(1, s)
						}
					}, func() {
						for n := s.records; s.records == n; {
							if cs[i].Pending() {
								cs[i].Poll(8, s)
							}
						}
					}
			})
			b.StopTimer()
			for _, c := range cs {
				if err := c.Close(); err != nil {
					b.Error(err)
				}
			}
		})
	}
}

func pingPong(b *testing.B, end func(i int) (send, await func())) {
	done := make(chan struct{})
	b.ResetTimer()
	go func() {
		defer close(done)
		send, await := end(1)
		for range b.N {
			await()
			send()
		}
	}()
	send, await := end(0)
	for range b.N {
		send()
		await()
	}
	<-done
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(2*b.N), "ns/record")
}

// BenchmarkRate is windows of 64 records one way and one back.
func BenchmarkRate(b *testing.B) {
	const window = 64
	for _, mode := range []seal.Mode{seal.Trust, seal.Encrypt} {
		b.Run(fmt.Sprint(mode), func(b *testing.B) {
			cs := job{mode: mode}.open(b, 2, conduit.Config{})
			pingPong(b, func(i int) (send, await func()) {
				s := &counter{}
				burst, want := window, 1
				if i == 1 {
					burst, want = 1, window
				}
				return func() {
						for k := 0; k < burst; {
							if _, st := cs[i].Reserve(1-i, conduit.Request, 64); st == conduit.OK {
								cs[i].Commit(1-i, 64)
								k++
								continue
							}
							cs[i].Poll(1, s)
						}
					}, func() {
						for s.records < want {
							if cs[i].Pending() {
								cs[i].Poll(64, s)
							}
						}
						s.records -= want
					}
			})
			b.ReportMetric(float64(b.N)*window/b.Elapsed().Seconds()/1e6, "M/s")
			b.StopTimer()
			for _, c := range cs {
				if err := c.Close(); err != nil {
					b.Error(err)
				}
			}
		})
	}
}
