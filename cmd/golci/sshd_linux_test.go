package main

import (
	"bytes"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// sshKeys makes the key pair of a job, as the MPI operator of Kubernetes mounts it: host key of the workers, key of the
// launcher, and the only key that is let in.
func sshKeys(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	key := filepath.Join(dir, "id_rsa")
	keygen := exec.Command("ssh-keygen", "-q", "-t", "rsa", "-b", "2048", "-N", "", "-f", key)
	if out, err := keygen.CombinedOutput(); err != nil {
		t.Fatalf("ssh-keygen: %v: %s", err, out)
	}
	public, err := os.ReadFile(key + ".pub")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "authorized_keys"), public, 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// sshPrograms skips the test where sshd cannot be run, and gives its path.
func sshPrograms(t *testing.T) string {
	t.Helper()
	sshd, err := exec.LookPath("/usr/sbin/sshd")
	for _, name := range []string{"ssh", "ssh-keygen"} {
		if err == nil {
			_, err = exec.LookPath(name)
		}
	}
	if err != nil {
		t.Skipf("the way of the MPI operator needs sshd and ssh: %v", err)
	}
	if os.Geteuid() == 0 { // sshd wants an empty directory of this name then
		if err := os.MkdirAll("/run/sshd", 0o755); err != nil {
			t.Skipf("sshd of root needs /run/sshd: %v", err)
		}
	}
	return sshd
}

// reserve is a port that is free at all these addresses, and that nobody else gets while the test runs: sockets hold
// it. They do not listen, so a program that sets SO_REUSEADDR, as sshd does, may listen there.
func reserve(t *testing.T, addresses ...string) (port int) {
	t.Helper()
	for range 100 {
		port = 0
		var held []int
		for _, a := range addresses {
			fd, at, err := hold(netip.MustParseAddr(a), port)
			if err != nil {
				t.Logf("port %d at %s: %v", port, a, err)
				break
			}
			held, port = append(held, fd), at
		}
		release := func() {
			for _, fd := range held {
				_ = unix.Close(fd) // nothing is in it
			}
		}
		if len(held) == len(addresses) {
			t.Cleanup(release)
			return port
		}
		release()
	}
	t.Fatalf("no port is free at all of %v", addresses)
	return 0
}

// hold binds a socket to a port; 0: to any.
func hold(a netip.Addr, port int) (fd, at int, err error) {
	fd, err = unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, 0, err
	}
	err = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1)
	if err == nil {
		err = unix.Bind(fd, &unix.SockaddrInet4{Port: port, Addr: a.As4()})
	}
	var bound unix.Sockaddr
	if err == nil {
		bound, err = unix.Getsockname(fd)
	}
	if err != nil {
		_ = unix.Close(fd)
		return -1, 0, err
	}
	return fd, bound.(*unix.SockaddrInet4).Port, nil
}

// worker is sshd at an address of its own, with the options of deploy/kubernetes/sshd_config.
func worker(t *testing.T, sshd, keys, address, port string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(sshd, "-D", "-e", "-f", "/dev/null",
		"-o", "ListenAddress="+address, "-o", "Port="+port, "-o", "PidFile=none",
		"-o", "HostKey="+filepath.Join(keys, "id_rsa"), "-o", "AuthorizedKeysFile="+filepath.Join(keys, "authorized_keys"),
		"-o", "StrictModes=no", "-o", "PasswordAuthentication=no", "-o", "KbdInteractiveAuthentication=no", "-o", "UsePAM=no",
		"-o", "PermitRootLogin=yes", "-o", "AcceptEnv="+roleVar)
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
		_ = log.Close()
		if text, _ := os.ReadFile(log.Name()); t.Failed() {
			t.Logf("sshd at %s:\n%s", address, text)
		}
	})
	return cmd
}

// TestWorkersOverSSH: the way of the MPI operator. Its file names two workers, in the two forms that it has. The second
// one is there only after 2 s, as a pod may be. The ranks of both join one job.
func TestWorkersOverSSH(t *testing.T) {
	sshd := sshPrograms(t)
	keys := sshKeys(t)
	for form, text := range map[string]string{
		"Open MPI": "127.0.0.2 slots=2\n127.0.0.3 slots=1\n",
		"MPICH":    "127.0.0.2:2\n127.0.0.3:1\n",
	} {
		t.Run(form, func(t *testing.T) {
			port := strconv.Itoa(reserve(t, "127.0.0.2", "127.0.0.3"))
			hostfile := filepath.Join(t.TempDir(), "hostfile")
			if err := os.WriteFile(hostfile, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			worker(t, sshd, keys, "127.0.0.2", port)
			const late = 2 * time.Second
			begun := time.Now()
			rsh := fmt.Sprintf("ssh -a -x -p %s -i %s -o BatchMode=yes -o StrictHostKeyChecking=no "+
				"-o UserKnownHostsFile=/dev/null -o LogLevel=ERROR -o ConnectionAttempts=30 -o SetEnv=%s=golci",
				port, filepath.Join(keys, "id_rsa"), roleVar)
			cmd := golci(t, "run", "-hostfile", hostfile, "-rsh", rsh, "-env", roleVar+"=join", "-prefix", os.Args[0])
			var out, said bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &said
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			done := make(chan error, 1)
			go func() { done <- cmd.Wait() }()
			select {
			case err := <-done:
				t.Fatalf("golci run has ended before the second worker was there: %v\n%s%s", err, &out, &said)
			case <-time.After(late):
			}
			worker(t, sshd, keys, "127.0.0.3", port)
			if err := <-done; err != nil {
				t.Fatalf("%v\n%s%s", err, &out, &said)
			}
			want := []string{
				"[0] rank 0 of 3 local 2 launcher golci", "[1] rank 1 of 3 local 2 launcher golci",
				"[2] rank 2 of 3 local 1 launcher golci",
			}
			if got := sorted(out.String()); !slices.Equal(got, want) {
				t.Errorf("got %q\n%s", got, &said)
			}
			if took := time.Since(begun); took < late {
				t.Errorf("it has taken %v, and a worker was %v late", took, late)
			}
			t.Logf("%v with a worker that is %v late", time.Since(begun).Round(10*time.Millisecond), late)
		})
	}
}
