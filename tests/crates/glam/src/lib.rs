//! Vectors, quaternions and matrices of `glam`.
#![no_std]

use glam::{DVec2, Mat4, Quat, Vec3};
use harness::Words;

/// Writes the results for item `i`.
pub fn case(i: u32, out: &mut Words) {
    let t = i as f32 * 0.1;
    let v = Vec3::new(t, 1.0 - t, t * t);
    let q = Quat::from_axis_angle(Vec3::new(0.0, 0.6, 0.8), t);
    let rotated = q * v;
    let m = Mat4::from_scale_rotation_translation(Vec3::splat(1.0 + t), q, v);
    out.f32(rotated.x);
    out.f32(rotated.y);
    out.f32(rotated.z);
    out.f32(v.cross(rotated).length());
    out.f32(m.determinant());
    for value in m.inverse().to_cols_array().into_iter().take(8) {
        out.f32(value);
    }
    out.f32(m.project_point3(v).x);
    out.f64(DVec2::new(f64::from(t), 2.0).normalize().perp_dot(DVec2::Y));
}

harness::kernel!(glam_case, 16, case);
