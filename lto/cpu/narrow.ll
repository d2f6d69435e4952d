; Conversions of 16-bit floats, which LLVM calls by these names where the host's CPU has no
; instruction for them. Its libraries have them only since GCC 12 (half) and 13 (bfloat).
;
; Names: compiler-rt's (hf: IEEE half, bf: bfloat, sf: float, df: double). All round to nearest,
; ties to even, and give quiet NaNs.

; The float next to %x whose last bit says whether anything was lost: rounding it once more gives
; what rounding %x does ("round to odd", Boldo and Melquiond, 2008).
define internal float @fc.odd(double %x) alwaysinline {
  %near = fptrunc double %x to float
  %back = fpext float %near to double
  %same = fcmp ueq double %back, %x  ; exact, or no number
  %larger = fcmp ogt double %back, %x
  %bits = bitcast float %near to i32
  %positive = icmp sgt i32 %bits, -1
  %away = icmp eq i1 %larger, %positive
  %step = sext i1 %away to i32
  %toward = add i32 %bits, %step
  %odd = or i32 %toward, 1
  %chosen = select i1 %same, i32 %bits, i32 %odd
  %value = bitcast i32 %chosen to float
  ret float %value
}

define bfloat @__truncsfbf2(float %x) {
  %bits = bitcast float %x to i32
  %high = lshr i32 %bits, 16
  %last = and i32 %high, 1
  %half = add i32 %last, 32767
  %sum = add i32 %bits, %half
  %rounded = lshr i32 %sum, 16
  %quiet = or i32 %high, 64
  %nan = fcmp uno float %x, 0.0
  %chosen = select i1 %nan, i32 %quiet, i32 %rounded
  %short = trunc i32 %chosen to i16
  %value = bitcast i16 %short to bfloat
  ret bfloat %value
}

define bfloat @__truncdfbf2(double %x) {
  %odd = call float @fc.odd(double %x)
  %value = call bfloat @__truncsfbf2(float %odd)
  ret bfloat %value
}

define half @__truncsfhf2(float %x) {
  %bits = bitcast float %x to i32
  %all = lshr i32 %bits, 16
  %sign = and i32 %all, 32768
  %size = and i32 %bits, 2147483647
  ; normal: the exponent's bias goes from 127 to 15, and 13 bits go
  %rebased = sub i32 %size, 939524096
  %above = lshr i32 %size, 13
  %last = and i32 %above, 1
  %half = add i32 %last, 4095
  %sum = add i32 %rebased, %half
  %normal = lshr i32 %sum, 13
  ; subnormal: a unit in the last place of 0.5 is half's smallest number
  %value = bitcast i32 %size to float
  %shifted = fadd float %value, 0.5
  %shifted.bits = bitcast float %shifted to i32
  %small = sub i32 %shifted.bits, 1056964608
  %is.small = icmp ult i32 %size, 947912704 ; 2^-14
  %finite = select i1 %is.small, i32 %small, i32 %normal
  %is.large = icmp uge i32 %size, 1199570944 ; 2^16
  %number = select i1 %is.large, i32 31744, i32 %finite
  %nan = icmp ugt i32 %size, 2139095040
  %chosen = select i1 %nan, i32 32256, i32 %number
  %signed = or i32 %chosen, %sign
  %short = trunc i32 %signed to i16
  %made = bitcast i16 %short to half
  ret half %made
}

define half @__truncdfhf2(double %x) {
  %odd = call float @fc.odd(double %x)
  %value = call half @__truncsfhf2(float %odd)
  ret half %value
}

define float @__extendhfsf2(half %x) {
  %short = bitcast half %x to i16
  %bits = zext i16 %short to i32
  %sign.bit = and i32 %bits, 32768
  %sign = shl i32 %sign.bit, 16
  %size = and i32 %bits, 32767
  %wide = shl i32 %size, 13
  ; the exponent's bias goes from 15 to 127, of subnormals, too
  %scaled = bitcast i32 %wide to float
  %value = fmul float %scaled, 0x46F0000000000000 ; 2^112
  %finite = bitcast float %value to i32
  %special = or i32 %wide, 2139095040
  %nan = icmp ugt i32 %size, 31744
  %quiet = select i1 %nan, i32 4194304, i32 0
  %quieted = or i32 %special, %quiet
  %is.special = icmp uge i32 %size, 31744
  %chosen = select i1 %is.special, i32 %quieted, i32 %finite
  %signed = or i32 %chosen, %sign
  %made = bitcast i32 %signed to float
  ret float %made
}
