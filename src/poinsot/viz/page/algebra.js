// Vectors [x, y, z], unit quaternions [w, x, y, z] (scalar first), matrices by columns.

const add = (a, b) => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
const sub = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const times = (s, a) => [s * a[0], s * a[1], s * a[2]];
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const norm = (a) => Math.hypot(a[0], a[1], a[2]);
const unit = (a) => times(1 / (norm(a) || 1), a);
const mix = (a, b, s) => add(times(1 - s, a), times(s, b));

// R(p q) = R(p) R(q)
const product = (p, q) => [
  p[0] * q[0] - p[1] * q[1] - p[2] * q[2] - p[3] * q[3],
  p[0] * q[1] + p[1] * q[0] + p[2] * q[3] - p[3] * q[2],
  p[0] * q[2] - p[1] * q[3] + p[2] * q[0] + p[3] * q[1],
  p[0] * q[3] + p[1] * q[2] - p[2] * q[1] + p[3] * q[0],
];

// v + 2 w u × v + 2 u × (u × v)
const turn = (q, v) => {
  const u = [q[1], q[2], q[3]], s = times(2, cross(u, v));
  return add(v, add(times(q[0], s), cross(u, s)));
};

const inverse = (q) => [q[0], -q[1], -q[2], -q[3]];

// The rotation about the same axis by a multiple of the angle.
const scaled = (q, factor) => {
  const u = [q[1], q[2], q[3]], size = norm(u), angle = factor * Math.atan2(size, q[0]);
  return size < 1e-12 ? q : [Math.cos(angle), ...times(Math.sin(angle) / size, u)];
};

// The rotation that takes the z axis to the direction of n.
const towards = (n) => {
  const d = unit(n);
  if (d[2] < -0.999999) return [0, 1, 0, 0];
  const q = [1 + d[2], -d[1], d[0], 0], size = Math.hypot(...q);
  return q.map((x) => x / size);
};

const multiply = (A, B) => {
  const C = new Float32Array(16);
  for (let j = 0; j < 4; j++) for (let i = 0; i < 4; i++) for (let k = 0; k < 4; k++)
    C[4 * j + i] += A[4 * k + i] * B[4 * j + k];
  return C;
};

const perspective = (angle, aspect, near, far) => {
  const f = 1 / Math.tan(angle / 2), d = near - far;
  return new Float32Array([f / aspect, 0, 0, 0, 0, f, 0, 0, 0, 0, (far + near) / d, -1, 0, 0, 2 * far * near / d, 0]);
};

const lookAt = (eye, target, up) => {
  const z = unit(sub(eye, target)), x = unit(cross(up, z)), y = cross(z, x);
  return new Float32Array([
    x[0], y[0], z[0], 0, x[1], y[1], z[1], 0, x[2], y[2], z[2], 0, -dot(x, eye), -dot(y, eye), -dot(z, eye), 1,
  ]);
};

