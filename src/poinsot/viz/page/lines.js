// Lines of any width in pixels: every segment is a rectangle that faces the eye.

const LINE = {
  vertex: `#version 300 es
    ${PLACED}
    layout(location = 0) in vec3 before;
    layout(location = 1) in vec3 a;
    layout(location = 2) in vec3 b;
    layout(location = 3) in vec3 after;
    layout(location = 4) in float copy;
    uniform mat4 toScreen;
    uniform vec4 ink;
    uniform vec2 pixels;
    uniform float width, count, fading, nearest;
    out vec3 world, tint;
    out float strength, aside;
    vec4 position, rotation, scale;
    vec3 place(vec3 x) { return position.xyz + turn(rotation, scale.xyz * x); }
    vec2 way(vec4 p, vec4 q) { return (q.xy / q.w - p.xy / p.w) * pixels; }
    vec2 across(vec2 along) { return length(along) > 0.0 ? normalize(vec2(-along.y, along.x)) : vec2(0.0, 1.0); }
    void main() {
      int k = gl_InstanceID * copies + int(copy);
      if (k >= many) { gl_Position = vec4(0.0, 0.0, 2.0, 1.0); return; }
      position = field(first + k, 0);
      rotation = field(first + k, 1);
      scale = field(first + k, 2);
      bool second = (gl_VertexID & 2) > 0;
      aside = (gl_VertexID & 1) > 0 ? 1.0 : -1.0;
      vec3 ends[2] = vec3[2](place(a), place(b));
      vec4 p = toScreen * vec4(ends[0], 1.0), q = toScreen * vec4(ends[1], 1.0);
      // What is behind the eye is cut off.
      if (p.w < nearest) p = mix(p, q, clamp((nearest - p.w) / (q.w - p.w), 0.0, 1.0));
      if (q.w < nearest) q = mix(q, p, clamp((nearest - q.w) / (p.w - q.w), 0.0, 1.0));
      vec2 own = across(way(p, q)), edge = own;
      // Where two segments meet at a small angle their rectangles share a corner.
      vec4 beyond = toScreen * vec4(place(second ? after : before), 1.0);
      vec2 other = second ? way(q, beyond) : way(beyond, p);
      if (beyond.w > nearest && length(other) > 1e-3) {
        vec2 between = own + across(other);
        if (dot(between, own) > 0.6) edge = between / dot(between, own);
      }
      gl_Position = second ? q : p;
      gl_Position.xy += edge * aside * (width + 1.0) / pixels * gl_Position.w;
      gl_Position.z -= 2e-4 * gl_Position.w;
      world = second ? ends[1] : ends[0];
      float share = (float(gl_VertexID / 4) + (second ? 1.0 : 0.0)) / max(count, 1.0);
      strength = mix(1.0, 0.12 + 0.88 * share, fading) * (ink.a > 0.0 ? ink.a * scale.w : 0.85 * position.w);
      tint = ink.a > 0.0 ? ink.rgb : field(first + k, 3).rgb;
    }`,
  fragment: `#version 300 es
    precision highp float;
    in vec3 world, tint;
    in float strength, aside;
    uniform vec3 centre;
    uniform float width, reach;
    out vec4 shade;
    void main() {
      float soft = clamp((width + 1.0) * (1.0 - abs(aside)), 0.0, 1.0);
      float far = reach > 0.0 ? 1.0 - smoothstep(0.45 * reach, reach, distance(world, centre)) : 1.0;
      shade = vec4(tint, strength * soft * far);
    }`,
};

// The first of every crowd: paths are where they are.
const STILL = { p: [0, 0, 0], q: [1, 0, 0, 0], scale: [1, 1, 1], colour: [0, 0, 0] };

// Every segment has four corners, and is two triangles.
const rectangles = (count) =>
  Uint32Array.from({ length: 6 * count }, (_, k) => 4 * Math.floor(k / 6) + [0, 2, 1, 1, 2, 3][k % 6]);

const linePainter = (gl) => {
  const names = ["toScreen", "ink", "pixels", "width", "count", "fading", "nearest", "centre", "reach", "first", "copies", "many"];
  const { program, at } = compile(gl, LINE, names);
  let ratio = 1;
  const uniforms = ({ colour, opacity = 1, width = 1, count = 0, fading = 0, centre = [0, 0, 0], reach = 0 }) => {
    gl.uniform4fv(at.ink, colour ? [...colour, opacity] : [0, 0, 0, 0]);
    gl.uniform3fv(at.centre, centre);
    gl.uniform1f(at.width, width * ratio);
    gl.uniform1f(at.count, count);
    gl.uniform1f(at.fading, fading);
    gl.uniform1f(at.reach, reach);
  };
  const store = (buffer, stride, offsets, segments) => {
    const array = gl.createVertexArray();
    gl.bindVertexArray(array);
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    offsets.forEach((offset, k) => {
      gl.enableVertexAttribArray(k);
      gl.vertexAttribPointer(k, 3, gl.FLOAT, false, 4 * stride, 4 * offset);
    });
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, gl.createBuffer());
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, rectangles(segments), gl.STATIC_DRAW);
    return { array, copies: 1, count: 6 * segments, kind: gl.UNSIGNED_INT };
  };
  gl.vertexAttrib1f(4, 0);
  return {
    begin: (camera) => {
      ratio = camera.ratio;
      gl.useProgram(program);
      gl.uniformMatrix4fv(at.toScreen, false, camera.toScreen);
      gl.uniform2f(at.pixels, gl.drawingBufferWidth, gl.drawingBufferHeight);
      gl.uniform1f(at.nearest, camera.near);
    },
    // Keep a path through points for painting, all of it or a part; it may change later.
    path: (points) => {
      const buffer = gl.createBuffer(), segments = points.length / 3 - 1;
      const fill = (x) => {
        const last = x.length / 3 - 1, corners = new Float32Array(12 * (last + 3));
        for (let k = 0; k < 4 * (last + 3); k++) {
          const point = 3 * Math.min(last, Math.max(0, Math.floor(k / 4) - 1));
          for (let i = 0; i < 3; i++) corners[3 * k + i] = x[point + i];
        }
        gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
        gl.bufferData(gl.ARRAY_BUFFER, corners, gl.DYNAMIC_DRAW);
      };
      const stored = store(buffer, 3, [0, 12, 24, 36], segments);
      gl.bindVertexArray(null);
      fill(points);
      return { ...stored, fill, segments };
    },
    follow: ({ segments, ...stored }, { count = segments, ...look }) => {
      if (count < 1) return;
      uniforms({ ...look, count });
      paintCopies(gl, at, { ...stored, count: 6 * count }, 0, 1);
    },
    // Keep segments (a, b, a, b, ...) that are painted once for each of many solids.
    outline: (segments) => {
      const size = 4 * segments.length / 6, copies = copiesOf(size);
      const corners = new Float32Array(4 * segments.length);
      for (let k = 0; k < size; k++) corners.set(segments.subarray(6 * Math.floor(k / 4), 6 * Math.floor(k / 4) + 6), 6 * k);
      const buffer = gl.createBuffer(), stored = store(buffer, 6, [0, 0, 3, 3], copies * segments.length / 6);
      gl.bufferData(gl.ARRAY_BUFFER, repeated(corners, copies), gl.STATIC_DRAW);
      gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
      gl.bufferData(gl.ARRAY_BUFFER, Uint8Array.from({ length: size * copies }, (_, v) => Math.floor(v / size)), gl.STATIC_DRAW);
      gl.enableVertexAttribArray(4);
      gl.vertexAttribPointer(4, 1, gl.UNSIGNED_BYTE, false, 0, 0);
      gl.bindVertexArray(null);
      return { ...stored, copies, count: segments.length };
    },
    paint: (stored, first, many, look) => {
      if (many < 1 || !stored.count) return;
      uniforms(look);
      paintCopies(gl, at, stored, first, many);
    },
  };
};

const edgesOf = (mesh) => {
  const vertices = unpack(mesh.vertices, Float32Array), edges = unpack(mesh.edges, Uint16Array);
  const lines = new Float32Array(3 * edges.length);
  edges.forEach((v, k) => lines.set(vertices.subarray(3 * v, 3 * v + 3), 3 * k));
  return lines;
};
