//go:build ofi && linux && (amd64 || arm64)

package fi

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unsafe"
)

// places are the offsets that this package relies on, by what C calls them.
func places() map[string]uintptr {
	var (
		i  info
		tx txAttr
		rx rxAttr
		ep epAttr
		d  domainAttr
		f  fabricAttr
		av avAttr
		cq cqAttr
		er cqErrEntry
		m  msg
		r  msgRMA
		ri rmaIov
		c  Completion
	)
	off := func(name string, at uintptr) (string, uintptr) { return "offsetof(struct " + name + ")", at }
	out := map[string]uintptr{
		"sizeof(struct fid)": unsafe.Sizeof(fid{}), "sizeof(struct fi_cq_data_entry)": unsafe.Sizeof(c),
		"sizeof(struct fi_context2)": ContextBytes, "sizeof(struct fi_rma_iov)": unsafe.Sizeof(ri),
		"sizeof(struct fi_msg)": unsafe.Sizeof(m), "sizeof(struct fi_msg_rma)": unsafe.Sizeof(r),
		"sizeof(struct fi_av_attr)": unsafe.Sizeof(av),
	}
	for _, p := range []struct {
		name string
		at   uintptr
	}{
		{"fi_info, caps", unsafe.Offsetof(i.caps)},
		{"fi_info, mode", unsafe.Offsetof(i.mode)},
		{"fi_info, tx_attr", unsafe.Offsetof(i.tx)},
		{"fi_info, rx_attr", unsafe.Offsetof(i.rx)},
		{"fi_info, ep_attr", unsafe.Offsetof(i.ep)},
		{"fi_info, domain_attr", unsafe.Offsetof(i.domain)},
		{"fi_info, fabric_attr", unsafe.Offsetof(i.fabr)},
		{"fi_tx_attr, msg_order", unsafe.Offsetof(tx.msgOrder)},
		{"fi_tx_attr, inject_size", unsafe.Offsetof(tx.injectSize)},
		{"fi_rx_attr, msg_order", unsafe.Offsetof(rx.msgOrder)},
		{"fi_ep_attr, type", unsafe.Offsetof(ep.kind)},
		{"fi_ep_attr, max_msg_size", unsafe.Offsetof(ep.maxMsgSize)},
		{"fi_domain_attr, name", unsafe.Offsetof(d.name)},
		{"fi_domain_attr, threading", unsafe.Offsetof(d.threading)},
		{"fi_domain_attr, control_progress", unsafe.Offsetof(d.controlProgress)},
		{"fi_domain_attr, data_progress", unsafe.Offsetof(d.dataProgress)},
		{"fi_domain_attr, resource_mgmt", unsafe.Offsetof(d.resourceMgmt)},
		{"fi_domain_attr, av_type", unsafe.Offsetof(d.avType)},
		{"fi_domain_attr, mr_mode", unsafe.Offsetof(d.mrMode)},
		{"fi_fabric_attr, name", unsafe.Offsetof(f.name)},
		{"fi_fabric_attr, prov_name", unsafe.Offsetof(f.provName)},
		{"fi_av_attr, type", unsafe.Offsetof(av.kind)},
		{"fi_av_attr, count", unsafe.Offsetof(av.count)},
		{"fi_cq_attr, size", unsafe.Offsetof(cq.size)},
		{"fi_cq_attr, format", unsafe.Offsetof(cq.format)},
		{"fi_cq_attr, wait_obj", unsafe.Offsetof(cq.waitObj)},
		{"fi_cq_attr, wait_set", unsafe.Offsetof(cq.waitSet)},
		{"fi_cq_err_entry, flags", unsafe.Offsetof(er.flags)},
		{"fi_cq_err_entry, err", unsafe.Offsetof(er.err)},
		{"fi_cq_err_entry, prov_errno", unsafe.Offsetof(er.provErr)},
		{"fi_cq_err_entry, err_data", unsafe.Offsetof(er.errData)},
		{"fi_cq_err_entry, err_data_size", unsafe.Offsetof(er.errDataSize)},
		{"fi_msg, addr", unsafe.Offsetof(m.addr)},
		{"fi_msg, context", unsafe.Offsetof(m.context)},
		{"fi_msg_rma, addr", unsafe.Offsetof(r.addr)},
		{"fi_msg_rma, rma_iov", unsafe.Offsetof(r.rmaIov)},
		{"fi_msg_rma, context", unsafe.Offsetof(r.context)},
		{"fi_rma_iov, key", unsafe.Offsetof(ri.key)},
		{"fi_cq_data_entry, flags", unsafe.Offsetof(c.Flags)},
		{"fi_cq_data_entry, len", unsafe.Offsetof(c.Len)},
		{"fi_cq_data_entry, buf", unsafe.Offsetof(c.Buf)},
		{"fid, ops", unsafe.Offsetof(fid{}.ops)},
		{"fid_cq, ops", unsafe.Offsetof(object{}.ops)},
		{"fid_av, ops", unsafe.Offsetof(object{}.ops)},
		{"fid_fabric, ops", unsafe.Offsetof(object{}.ops)},
		{"fid_domain, ops", unsafe.Offsetof(fidDomain{}.ops)},
		{"fid_domain, mr", unsafe.Offsetof(fidDomain{}.mr)},
		{"fid_ep, cm", unsafe.Offsetof(fidEndpoint{}.cm)},
		{"fid_ep, msg", unsafe.Offsetof(fidEndpoint{}.msg)},
		{"fid_ep, rma", unsafe.Offsetof(fidEndpoint{}.rma)},
		{"fid_ep, ops", unsafe.Offsetof(fidEndpoint{}.ops)},
		{"fid_mr, mem_desc", unsafe.Offsetof(fidMR{}.desc)},
		{"fid_mr, key", unsafe.Offsetof(fidMR{}.key)},
		{"fi_ops, close", opClose},
		{"fi_ops, bind", opBind},
		{"fi_ops, control", opControl},
		{"fi_ops_fabric, domain", opDomain},
		{"fi_ops_fabric, trywait", opTryWait},
		{"fi_ops_domain, av_open", opAVOpen},
		{"fi_ops_domain, cq_open", opCQOpen},
		{"fi_ops_domain, endpoint", opEndpoint},
		{"fi_ops_mr, reg", opReg},
		{"fi_ops_av, insert", opInsert},
		{"fi_ops_av, straddr", opStrAddr},
		{"fi_ops_ep, setopt", opSetOpt},
		{"fi_ops_cm, getname", opGetName},
		{"fi_ops_msg, recv", opRecv},
		{"fi_ops_msg, recvmsg", opRecvMsg},
		{"fi_ops_msg, send", opSend},
		{"fi_ops_msg, inject", opInject},
		{"fi_ops_rma, read", opRead},
		{"fi_ops_rma, writemsg", opWriteMsg},
		{"fi_ops_cq, read", opCQRead},
		{"fi_ops_cq, readerr", opReadErr},
		{"fi_ops_cq, strerror", opCQStrError},
	} {
		name, at := off(p.name, p.at)
		out[name] = at
	}
	return out
}

// constants are those of the header that this package repeats.
var constants = map[string]uint64{
	"FI_MSG": capMsg, "FI_RMA": capRMA, "FI_MULTI_RECV": capMultiRecv, "FI_REMOTE_COMM": capRemoteComm,
	"FI_TRANSMIT": flagTransmit, "FI_RECV": flagRecv, "FI_COMPLETION": flagCompletion,
	"FI_DELIVERY_COMPLETE": flagDelivery,
	"FI_CONTEXT":           modeContext, "FI_CONTEXT2": modeContext2, "FI_ORDER_SAS": orderSAS,
	"FI_MR_LOCAL": mrLocal, "FI_MR_VIRT_ADDR": mrVirtAddr, "FI_MR_ALLOCATED": mrAllocated, "FI_MR_PROV_KEY": mrProvKey,
	"FI_MR_ENDPOINT": mrEndpoint, "FI_EP_RDM": epRDM, "FI_THREAD_DOMAIN": threadDomain,
	"FI_PROGRESS_MANUAL": progressManual,
	"FI_RM_ENABLED":      rmEnabled, "FI_AV_TABLE": avTable, "FI_CQ_FORMAT_DATA": formatData, "FI_WAIT_NONE": waitNone,
	"FI_WAIT_FD": waitFD, "FI_GETWAIT": cmdGetWait, "FI_ENABLE": cmdEnable, "FI_OPT_ENDPOINT": optEndpoint,
	"FI_OPT_MIN_MULTI_RECV": optMinMulti, "FI_SEND": accessSend, "FI_READ": accessRead, "FI_WRITE": accessWrite,
	"FI_REMOTE_READ": accessPeerRead, "FI_REMOTE_WRITE": accessPeerWrite, "FI_EAGAIN": Again, "FI_EAVAIL": Available,
	"FI_ENODATA": noData, "FI_ADDR_UNSPEC": anybody,
}

// TestLayout compares offsets, sizes and constants with the header of the system.
func TestLayout(t *testing.T) {
	cc, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("there is no gcc to read the header with")
	}
	if _, err := os.Stat("/usr/include/rdma/fabric.h"); err != nil {
		t.Skip("there is no header of libfabric (Debian: libfabric-dev)")
	}
	var b strings.Builder
	b.WriteString("#include <stdio.h>\n#include <stddef.h>\n")
	for _, h := range []string{"fabric", "fi_domain", "fi_endpoint", "fi_eq", "fi_rma", "fi_cm", "fi_errno"} {
		fmt.Fprintf(&b, "#include <rdma/%s.h>\n", h)
	}
	b.WriteString("int main(void) { int bad = 0;\n")
	check := func(what string, want uint64) {
		fmt.Fprintf(&b, "if ((unsigned long long)(%s) != %dULL) { bad = 1; "+
			"printf(\"%s is %%llu, not %d\\n\", (unsigned long long)(%[1]s)); }\n",
			what, want, what, want)
	}
	all := places()
	for what, want := range all {
		check(what, uint64(want))
	}
	for what, want := range constants {
		check(what, want)
	}
	b.WriteString("return bad; }\n")
	dir := t.TempDir()
	src, bin := filepath.Join(dir, "layout.c"), filepath.Join(dir, "layout")
	if err := os.WriteFile(src, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(cc, "-o", bin, src).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if out, err := exec.Command(bin).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if len(all) < 60 {
		t.Errorf("only %d places were compared", len(all))
	}
}
