// Package seal protects the datagrams of a job. Without the job's key one can neither read, nor alter, nor inject, nor
// replay one. A stranger's datagram costs a comparison. docs/design/udp-security.md has the threat model.
//
// A datagram is
//
//	0       8     12    16       24
//	| cookie | src | dst | number | payload ... | tag (16) |
//
// in big-endian order. The header is in clear and authenticated. Without a tag (Trust) a checksum takes the high half
// of the number's place. The number is the nonce: a Sender takes only numbers greater than the last, so none is used
// twice under one key. Keys are derived from the job key and an exchange of X25519 between the two ranks. Each
// direction has its own, and a new one for each 2^22 numbers. RFC 9001, section 6.6, asks for fewer than 2^23 packets
// under a key of AES-GCM.
//
// A Box belongs to one rank. It reads no clock, starts nothing and does no input or output; Seal and Open work in
// place and allocate nothing, but where a key is first used.
package seal
