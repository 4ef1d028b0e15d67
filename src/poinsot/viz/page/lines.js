// Lines of any width in pixels: every segment is a rectangle that faces the eye.

const LINE = {
  vertex: `#version 300 es
    layout(location = 0) in vec3 before;
    layout(location = 1) in vec3 a;
    layout(location = 2) in vec3 b;
    layout(location = 3) in vec3 after;
    layout(location = 4) in vec3 position;
    layout(location = 5) in vec4 rotation;
    layout(location = 6) in vec3 scale;
    layout(location = 7) in float opacity;
    layout(location = 8) in vec3 colour;
    uniform mat4 toScreen;
    uniform vec4 ink;
    uniform vec2 pixels;
    uniform float width, count, fading, nearest;
    out vec3 world, tint;
    out float strength, aside;
    vec3 turn(vec4 q, vec3 v) { return v + 2.0 * cross(q.yzw, cross(q.yzw, v) + q.x * v); }
    vec3 place(vec3 x) { return position + turn(rotation, scale * x); }
    vec2 way(vec4 p, vec4 q) { return (q.xy / q.w - p.xy / p.w) * pixels; }
    vec2 across(vec2 along) { return length(along) > 0.0 ? normalize(vec2(-along.y, along.x)) : vec2(0.0, 1.0); }
    void main() {
      int corner = gl_VertexID % 6;
      bool second = corner == 1 || corner == 3 || corner == 4;
      aside = corner == 0 || corner == 1 || corner == 3 ? -1.0 : 1.0;
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
      float share = (float(gl_InstanceID) + (second ? 1.0 : 0.0)) / max(count, 1.0);
      strength = mix(1.0, 0.12 + 0.88 * share, fading) * (ink.a > 0.0 ? ink.a : 0.85 * opacity);
      tint = ink.a > 0.0 ? ink.rgb : colour;
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

const STILL = { p: [0, 0, 0], q: [1, 0, 0, 0], scale: [1, 1, 1] };

const linePainter = (gl) => {
  const names = ["toScreen", "ink", "pixels", "width", "count", "fading", "nearest", "centre", "reach"];
  const { program, at } = compile(gl, LINE, names);
  const read = (stride, offsets, divisor) => offsets.forEach((offset, k) => {
    gl.enableVertexAttribArray(k);
    gl.vertexAttribPointer(k, 3, gl.FLOAT, false, 4 * stride, 4 * offset);
    gl.vertexAttribDivisor(k, divisor);
  });
  const uniforms = ({ colour, opacity = 1, width = 1, count = 0, fading = 0, centre = [0, 0, 0], reach = 0 }) => {
    gl.uniform4fv(at.ink, colour ? [...colour, opacity] : [0, 0, 0, 0]);
    gl.uniform3fv(at.centre, centre);
    gl.uniform1f(at.width, width * (window.devicePixelRatio || 1));
    gl.uniform1f(at.count, count);
    gl.uniform1f(at.fading, fading);
    gl.uniform1f(at.reach, reach);
  };
  return {
    begin: (camera) => {
      gl.useProgram(program);
      gl.uniformMatrix4fv(at.toScreen, false, camera.toScreen);
      gl.uniform2f(at.pixels, gl.drawingBufferWidth, gl.drawingBufferHeight);
      gl.uniform1f(at.nearest, camera.near);
    },
    // Keep a path through points for painting, all of it or a part; it may change later.
    path: (points) => {
      const array = gl.createVertexArray(), buffer = gl.createBuffer();
      const fill = (x) => {
        gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
        const padded = new Float32Array(x.length + 6);
        padded.set(x.subarray(0, 3));
        padded.set(x, 3);
        padded.set(x.subarray(x.length - 3), x.length + 3);
        gl.bufferData(gl.ARRAY_BUFFER, padded, gl.DYNAMIC_DRAW);
        stored.count = x.length / 3 - 1;
      };
      const stored = { array, fill, count: 0 };
      gl.bindVertexArray(array);
      fill(points);
      read(3, [0, 3, 6, 9], 1);
      gl.bindVertexArray(null);
      return stored;
    },
    follow: (stored, { count = stored.count, ...look }) => {
      if (count < 1) return;
      gl.vertexAttrib3fv(4, STILL.p);
      gl.vertexAttrib4fv(5, STILL.q);
      gl.vertexAttrib3fv(6, STILL.scale);
      uniforms({ ...look, count });
      gl.bindVertexArray(stored.array);
      gl.drawArraysInstanced(gl.TRIANGLES, 0, 6, count);
    },
    // Keep segments (a, b, a, b, ...) that are painted once for each of many solids.
    outline: (segments, instances) => {
      const array = gl.createVertexArray(), corners = new Float32Array(6 * segments.length);
      for (let k = 0; k < segments.length; k += 6)
        for (let corner = 0; corner < 6; corner++) corners.set(segments.subarray(k, k + 6), 6 * (k + corner));
      gl.bindVertexArray(array);
      gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
      gl.bufferData(gl.ARRAY_BUFFER, corners, gl.STATIC_DRAW);
      read(6, [0, 0, 3, 3], 0);
      readInstances(gl, instances, ["position", "rotation", "scale", "opacity"]);
      gl.enableVertexAttribArray(8);
      gl.vertexAttribPointer(8, 3, gl.FLOAT, false, 4 * STRIDE, 44);
      gl.vertexAttribDivisor(8, 1);
      gl.bindVertexArray(null);
      return { array, count: segments.length };
    },
    paint: (stored, many, look) => {
      if (many < 1 || !stored.count) return;
      uniforms(look);
      gl.bindVertexArray(stored.array);
      gl.drawArraysInstanced(gl.TRIANGLES, 0, stored.count, many);
    },
  };
};

const edgesOf = (mesh) => {
  const vertices = unpack(mesh.vertices, Float32Array), edges = unpack(mesh.edges, Uint16Array);
  const lines = new Float32Array(3 * edges.length);
  edges.forEach((v, k) => lines.set(vertices.subarray(3 * v, 3 * v + 3), 3 * k));
  return lines;
};
